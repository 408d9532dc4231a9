import { configureGlobal } from 'fast-check'

/** A mutant lives or dies by the tests, not by luck; and nobody reads the shortest counterexample of one. */
configureGlobal({ seed: 1, endOnFailure: true })
