/** Positions that cannot be a buoy's: inside land, and what would put them at sea. */
import { haversineKm } from '../sea/geo.ts'
import { isInland, kmFromWater } from '../sea/inland.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { countryAt, countryName } from '../sea/territory.ts'
import type { Doubt } from '../sources/doubts.ts'

type Placed = Pick<BuoyRecord, 'source' | 'identifier' | 'lat' | 'lng'>
interface Place {
  lat: number
  lng: number
}

/** Ways in which positions are written down wrong, and how they are put right. */
const TURNS: readonly { words: string; turned: (place: Place) => Place }[] = [
  { words: 'with the other sign of its longitude', turned: ({ lat, lng }) => ({ lat, lng: -lng }) },
  { words: 'with latitude and longitude exchanged', turned: ({ lat, lng }) => ({ lat: lng, lng: lat }) },
  { words: 'with the other sign of its latitude', turned: ({ lat, lng }) => ({ lat: -lat, lng }) },
]

/** A network's buoys lie within this distance of another one, at the least. */
const NEAR_KM = 1500

/** Share of a network that a turn of all its positions has to put at sea. */
const WHOLE = 0.99

const REMEDY = 'see whether the signs and the order of latitude and longitude are right'

/** Positions of a source's buoys that are more than 25 km inside land; each with the turn that fits. */
export function* askPositions(buoys: readonly Placed[]): Generator<Doubt> {
  for (const network of new Set(buoys.map(({ source }) => source))) {
    yield* askNetwork(buoys.filter(({ source }) => source === network))
  }
}

function* askNetwork(buoys: readonly Placed[]): Generator<Doubt> {
  const inland = buoys.filter(({ lat, lng }) => isInland(lat, lng))
  if (inland.length === 0) return
  const sound = buoys.filter((buoy) => !inland.includes(buoy))
  // A fault of a column turns the whole network, also the buoys that happen to be at another sea.
  const wholes = TURNS.map(({ turned }) => buoys.filter((buoy) => isAtSea(turned(buoy))).length)
  const isWhole = inland.length > 1 && wholes.some((count) => count >= WHOLE * buoys.length)
  for (const buoy of inland) {
    const { identifier, lat, lng } = buoy
    const country = countryName(countryAt(lat, lng) ?? '')
    const where = country === null ? 'on land' : `in ${country}`
    const turn = TURNS.map(({ words, turned }, i) => ({ words, place: turned(buoy), whole: wholes[i] }))
      .filter(({ place }) => isAtSea(place))
      .map((one) => ({ ...one, km: kmToNearest(one.place, sound) }))
      .sort((a, b) => (isWhole ? b.whole - a.whole : 0) || a.km - b.km)[0]
    const fits = turn !== undefined && (isWhole || sound.length === 0 || turn.km <= NEAR_KM)
    const hint = fits ? `; ${turn.words} it is at sea` : ''
    yield {
      what: 'a buoy lies far inside land',
      remedy: REMEDY,
      isGrave: true,
      examples: [`${identifier} at ${lat} ${lng}, ${where}, ${kmFromWater(lat, lng)} km from the sea${hint}`],
    }
  }
}

const isAtSea = ({ lat, lng }: Place): boolean => Math.abs(lat) <= 90 && !isInland(lat, lng)

const kmToNearest = (place: Place, others: readonly Place[]): number =>
  Math.min(...others.map(({ lat, lng }) => haversineKm(place.lat, place.lng, lat, lng)))
