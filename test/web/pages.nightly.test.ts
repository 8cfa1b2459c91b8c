/** All tests of the pages, with those that only this tier has. */
process.env['GROUNDSWELL_NIGHTLY'] = '1'
for (const name of ['pages', 'maps', 'docs', 'live']) await import(`./${name}.slow.test.ts`)
