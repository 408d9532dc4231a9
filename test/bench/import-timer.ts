/** Imports the file that the first argument names, and prints how many milliseconds that took. */
const started = performance.now()
await import(process.argv[2] ?? '')
process.stdout.write(String(performance.now() - started))
process.exit(0)
