/**
 * Which errors are faults of input, files and surroundings: the operator gets a sentence for them. All others
 * are faults of the program and keep their stack.
 */
import { AdminTokenError } from '../process/admin.ts'
import { ListenError } from '../http/port.ts'
import { UsageError } from '../process/usage-error.ts'
import { KeyCommandError } from '../access/keys.ts'
import { KeysFileError } from '../access/keys-file.ts'
import { RedisKeysError } from '../access/keys-table.ts'
import { SnapshotError } from '../snapshot/format.ts'
import { StoreError } from '../store/store.ts'
import { BuildError } from '../system/build-error.ts'

const EXPECTED = [
  AdminTokenError,
  UsageError,
  ListenError,
  BuildError,
  SnapshotError,
  StoreError,
  KeysFileError,
  KeyCommandError,
  RedisKeysError,
]

const SYSTEM_FAULTS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'is not a folder',
  EISDIR: 'is a folder',
  EEXIST: 'is there already',
  EACCES: 'access is denied',
  EPERM: 'is not permitted',
  EROFS: 'lies on a file system that cannot be written to',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the quota of the disk is used up',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'links lead in a circle',
}

/**
 * Whether the system refused something: Node then gives its error number. Node's own errors have a code only.
 */
function isSystemFault(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'errno' in error &&
    typeof error.errno === 'number' &&
    'syscall' in error &&
    // A descriptor that is not open is a fault of the program.
    error.code !== 'EBADF'
  )
}

/** The sentence for an operator; null for a fault of the program. */
export function expectedFault(error: unknown): string | null {
  if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message
  if (!isSystemFault(error)) return null
  if (error.code === 'EEXIST' && error.syscall === 'mkdir') return `${error.path}: is not a folder`
  const what = SYSTEM_FAULTS[error.code] ?? `cannot be used (${error.code})`
  return error.path === undefined ? error.message : `${error.path}: ${what}`
}
