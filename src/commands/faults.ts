/** Faults of input, files and surroundings, and their sentences. All other faults keep their stack. */
import { AdminTokenError } from '../server/admin.ts'
import { ListenError } from '../http/port.ts'
import { UsageError } from '../server/setting.ts'
import { KeyCommandError } from '../access/key-records.ts'
import { KeysFileError } from '../access/keys-file.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { RequestFault } from '../snapshot/store/web-request.ts'
import { BuildError } from '../system/build-error.ts'
import { isSystemFault } from '../system/file-faults.ts'

const EXPECTED = [
  AdminTokenError,
  UsageError,
  ListenError,
  BuildError,
  SnapshotError,
  RequestFault,
  KeysFileError,
  KeyCommandError,
]

const SYSTEM_FAULTS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'is not a folder',
  EISDIR: 'is a folder',
  EEXIST: 'exists already',
  EACCES: 'access is denied',
  EPERM: 'is not permitted',
  EROFS: 'lies on a file system that cannot be written to',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the quota of the disk is used up',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'links lead in a circle',
}

/** The sentence for an operator; null for a fault of the program. */
export function expectedFault(error: unknown): string | null {
  if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message
  if (!isSystemFault(error)) return null
  if (error.code === 'EEXIST' && error.syscall === 'mkdir') return `${error.path}: is not a folder`
  const what = SYSTEM_FAULTS[error.code] ?? `cannot be used (${error.code})`
  return error.path === undefined ? error.message : `${error.path}: ${what}`
}
