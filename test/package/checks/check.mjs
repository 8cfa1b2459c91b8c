// Prints what publint and "are the types wrong" find in a packed file, as a list in JSON.
import { readFileSync } from 'node:fs'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** The package is for `import` alone: not for TypeScript's resolution of before 2021, nor for `require`. */
const NOT_FOR = new Set(['node10', 'node16-cjs'])

const bytes = readFileSync(process.argv[2])
const { messages, pkg } = await publint({ pack: { tarball: new Uint8Array(bytes).buffer }, strict: true })
const { types, problems = [] } = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)))
console.log(
  JSON.stringify([
    ...messages.map((message) => formatMessage(message, pkg)),
    ...problems.filter(({ resolutionKind }) => !NOT_FOR.has(resolutionKind)),
    ...(types === false ? ['the package has no types'] : []),
  ]),
)
