/** Return levels of a record whose figures are published, and of maxima that have no ordinary fit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fitGev, LEAST_SHAPE, levelOf, negativeLogLikelihood } from '../../src/climate/extremes.ts'

/** Yearly maxima of the sea level at Port Pirie, 1923 to 1987, m (Coles 2001, table 1.1). */
const PORT_PIRIE = [
  4.03, 3.83, 3.65, 3.88, 4.01, 4.08, 4.18, 3.8, 4.36, 3.96, 3.98, 4.69, 3.85, 3.96, 3.85, 3.93, 3.75, 3.63,
  3.57, 4.25, 3.97, 4.05, 4.24, 4.22, 3.73, 4.37, 4.06, 3.71, 3.96, 4.06, 4.55, 3.79, 3.89, 4.11, 3.85, 3.86,
  3.86, 4.21, 4.01, 4.11, 4.24, 3.96, 4.21, 3.74, 3.85, 3.88, 3.66, 4.11, 3.71, 4.18, 3.9, 3.78, 3.91, 3.72,
  4.0, 3.66, 3.62, 4.33, 4.55, 3.75, 4.08, 3.9, 3.88, 3.94, 4.33,
]

const near = (value: number | null | undefined, wanted: number, tolerance: number): void =>
  assert.ok(Math.abs(value! - wanted) <= tolerance, `${value}, not ${wanted}`)

test('Port Pirie has the likelihood, parameters, errors and levels that Coles gives, with intervals by profile.', () => {
  const fit = fitGev(PORT_PIRIE)
  near(fit.negativeLogLikelihood, -4.339058, 1e-5)
  // As `gev.fit` of the package ismev prints them; it stops at a shape of -0.05009.
  near(fit.parameters.location, 3.87474692, 1e-4)
  near(fit.parameters.scale, 0.1980412, 1e-4)
  near(fit.parameters.shape, -0.05008773, 1e-4)
  near(fit.errors?.location, 0.02793211, 1e-4)
  near(fit.errors?.scale, 0.0202461, 1e-4)
  near(fit.errors?.shape, 0.09825633, 1e-4)
  assert.equal(fit.isAtBound, false)
  for (const [period, level, low, high] of [
    [10, 4.3, 4.205, 4.445],
    [100, 4.69, 4.49, 5.261],
  ]) {
    const found = levelOf(PORT_PIRIE, fit, period)
    near(found.level, level, 0.005)
    near(found.low, low, 0.005)
    near(found.high, high, 0.005)
  }
})

test('A shape that would fall below its bound stays there, without errors.', () => {
  // All but equal maxima below one end.
  const maxima = Array.from({ length: 20 }, (_, i) => 5 - 0.3 * (i / 20) ** 4)
  const { parameters, errors, isAtBound } = fitGev(maxima)
  assert.deepEqual([isAtBound, errors], [true, null])
  near(parameters.shape, LEAST_SHAPE, 1e-3)
  assert.equal(negativeLogLikelihood(maxima, { ...parameters, shape: LEAST_SHAPE - 0.01 }), Infinity)
})

test('An interval that does not close below ten times the level has no upper end.', () => {
  const maxima = Array.from({ length: 15 }, (_, i) => (1 - (i + 0.5) / 15) ** -1.5)
  const fit = fitGev(maxima)
  assert.ok(fit.parameters.shape > 1)
  const { level, low, high } = levelOf(maxima, fit, 100)
  // By a search over a grid of locations and shapes.
  near(level, 1582.8, 0.1)
  near(low, 69.7, 0.1)
  assert.equal(high, null)
})
