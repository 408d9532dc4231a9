export { permanentError } from '../errors.ts'
