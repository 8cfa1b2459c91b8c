// Two rules that the linter lacks: a comment wraps where code does, and a loop shows what it repeats. Lines
// that are squeezed to save lines read badly.

const COLUMNS = 110

/** A line of a comment that has no blank after its first word (an address, a formula) cannot wrap. */
const canWrap = (text) => /\S\s+\S/.test(text.replace(/^\s*(?:\/\/|\/\*\*?|\*)\s*/, ''))

const commentWidth = {
  create(context) {
    const { lines } = context.sourceCode
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          for (let row = comment.loc.start.line; row <= comment.loc.end.line; row++) {
            const line = lines[row - 1]
            if (line.length > COLUMNS && canWrap(line)) {
              const loc = { start: { line: row, column: COLUMNS }, end: { line: row, column: line.length } }
              context.report({ loc, message: `A comment wraps at column ${COLUMNS}.` })
            }
          }
        }
      },
    }
  },
}

const SHOWN_IN_BRACES = new Set([
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'IfStatement',
])

const bracedLoops = {
  create(context) {
    const check = ({ body }) => {
      if (SHOWN_IN_BRACES.has(body.type)) {
        context.report({
          node: body,
          message: 'The body of this loop is a loop or a condition: put it in braces.',
        })
      }
    }
    return { ForStatement: check, ForInStatement: check, ForOfStatement: check, WhileStatement: check }
  },
}

export default {
  meta: { name: 'groundswell' },
  rules: { 'comment-width': commentWidth, 'braced-loops': bracedLoops },
}
