#!/usr/bin/env python3
"""Lists the readings of a buoy from the files of a snapshot, newest first.

    python3 read_snapshot.py FOLDER            lists the buoys
    python3 read_snapshot.py FOLDER BUOY       lists the readings of a buoy, by id or slug
    python3 read_snapshot.py FOLDER BUOY 10    lists the newest ten

It needs nothing but Python 3.8. ../snapshot-format.md describes what it reads.
"""

import hashlib
import os
import struct
import sys
from array import array
from datetime import datetime, timezone

MANIFEST_FORMAT = 'groundswell-snapshot'
PART_FORMAT = 'groundswell-part'
VERSION = 2

# Type codes of the module array; their sizes are checked below.
TYPES = {'u8': 'B', 'u16': 'H', 'i16': 'h', 'u32': 'I', 'i32': 'i', 'f32': 'f', 'f64': 'd'}
SIZES = {'u8': 1, 'u16': 2, 'i16': 2, 'u32': 4, 'i32': 4, 'f32': 4, 'f64': 8}

# Measures of a reading: decimals of a unit that a code counts, and the code of a missing value.
MEASURES = {
    'significantHeight': (1000, 0xFFFF),
    'maximumHeight': (1000, 0xFFFF),
    'period': (1000, 0xFFFF),
    'peakPeriod': (1000, 0xFFFF),
    'direction': (100, 0xFFFF),
    'waterTemperature': (100, -0x8000),
    'windSpeed': (100, 0xFFFF),
    'windDirection': (100, 0xFFFF),
    'gustSpeed': (100, 0xFFFF),
    'swellHeight': (1000, 0xFFFF),
    'swellPeriod': (1000, 0xFFFF),
    'swellDirection': (100, 0xFFFF),
    'windWaveHeight': (1000, 0xFFFF),
    'windWavePeriod': (1000, 0xFFFF),
    'windWaveDirection': (100, 0xFFFF),
    'airTemperature': (100, -0x8000),
    'dewPoint': (100, -0x8000),
    'pressure': (10, 0xFFFF),
    'humidity': (100, 0xFFFF),
    'visibility': (100, 0xFFFF),
}


class BadSnapshot(Exception):
    """Bytes that are not a snapshot of this version; the message names the file."""


class MessagePack:
    """Reads the subset of MessagePack that snapshots use: one value after the other."""

    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def take(self, count):
        if self.at + count > len(self.data):
            raise BadSnapshot('ends too early')
        self.at += count
        return self.data[self.at - count : self.at]

    def unpack(self, form):
        return struct.unpack('>' + form, self.take(struct.calcsize(form)))[0]

    def value(self):
        head = self.unpack('B')
        if head < 0x80:
            return head
        if head >= 0xE0:
            return head - 0x100
        if head < 0x90:
            return self.map(head - 0x80)
        if head < 0xA0:
            return self.list(head - 0x90)
        if head < 0xC0:
            return self.text(head - 0xA0)
        if head in (0xC0, 0xC2, 0xC3):
            return {0xC0: None, 0xC2: False, 0xC3: True}[head]
        numbers = {0xCA: 'f', 0xCB: 'd', 0xCC: 'B', 0xCD: 'H', 0xCE: 'I', 0xD0: 'b', 0xD1: 'h', 0xD2: 'i'}
        if head in numbers:
            return self.unpack(numbers[head])
        lengths = {
            0xC4: ('B', self.take),
            0xC5: ('H', self.take),
            0xC6: ('I', self.take),
            0xD9: ('B', self.text),
            0xDA: ('H', self.text),
            0xDB: ('I', self.text),
            0xDC: ('H', self.list),
            0xDD: ('I', self.list),
            0xDE: ('H', self.map),
            0xDF: ('I', self.map),
        }
        if head not in lengths:
            raise BadSnapshot('holds a MessagePack type that snapshots do not use')
        form, read = lengths[head]
        return read(self.unpack(form))

    def text(self, length):
        return bytes(self.take(length)).decode('utf-8')

    def list(self, length):
        return [self.value() for _ in range(length)]

    def map(self, length):
        return {self.value(): self.value() for _ in range(length)}


def read_manifest(folder):
    """The published manifest of a folder."""
    with open(os.path.join(folder, 'manifest.msgpack'), 'rb') as file:
        manifest = MessagePack(file.read()).value()
    if manifest.get('format') != MANIFEST_FORMAT or manifest.get('version') != VERSION:
        raise BadSnapshot(f'manifest.msgpack: is not a manifest of version {VERSION}')
    return manifest


def read_part(folder, entry):
    """The meta map of a part and its columns by name, checked against the manifest's entry."""
    name = entry['file']
    with open(os.path.join(folder, name), 'rb') as file:
        data = file.read()
    if len(data) != entry['bytes'] or hashlib.sha256(data).hexdigest() != entry['sha256']:
        raise BadSnapshot(f'{name}: has other bytes than the manifest says')
    header = MessagePack(data).value()
    if header.get('format') != PART_FORMAT or header.get('version') != VERSION:
        raise BadSnapshot(f'{name}: is not a part of version {VERSION}')
    if header['byte_order'] != 'little' or header['kind'] != entry['kind']:
        raise BadSnapshot(f'{name}: has another byte order or kind')
    columns = {}
    for column in header['columns']:
        size = column['length'] * SIZES[column['type']]
        offset = column['offset']
        # The head of the byte string whose payload the column is.
        if data[offset - 5] != 0xC6 or struct.unpack('>I', data[offset - 4 : offset])[0] != size:
            raise BadSnapshot(f"{name}: column {column['name']} is not framed as a byte string")
        values = array(TYPES[column['type']])
        values.frombytes(data[offset : offset + size])
        if sys.byteorder == 'big':
            values.byteswap()
        columns[column['name']] = values
    return header['meta'], columns


def parts_of(manifest, kind):
    return [entry for entry in manifest['parts'] if entry['kind'] == kind]


def buoys(folder, manifest):
    """All buoys: id, slug, name, source, identifier, latitude, longitude."""
    meta, columns = read_part(folder, parts_of(manifest, 'catalog')[0])
    for i, buoy in enumerate(columns['id']):
        yield {
            'id': buoy,
            'slug': meta['slugs'][i],
            'name': meta['names'][i],
            'source': meta['sources'][columns['source'][i]]['name'],
            'identifier': meta['identifiers'][i],
            'lat': columns['lat'][i],
            'lng': columns['lng'][i],
        }


def readings(folder, manifest, buoy):
    """The readings of a buoy's id, newest first: epoch seconds and the measures, None where one is missing."""
    for entry in sorted(parts_of(manifest, 'readings'), key=lambda part: -part['month']):
        meta, columns = read_part(folder, entry)
        if buoy not in columns['buoy']:
            continue
        segment = columns['buoy'].index(buoy)
        first, end = columns['start'][segment], columns['start'][segment + 1]
        for row in range(end - 1, first - 1, -1):
            yield columns['time'][row], {
                measure: measured(columns.get(meta['aliases'].get(measure, measure)), row, scale, missing)
                for measure, (scale, missing) in MEASURES.items()
            }


def measured(column, row, scale, missing):
    # A column that holds nothing is left out of its part.
    if column is None or column[row] == missing:
        return None
    return column[row] / scale


def main(folder, wanted=None, limit=None):
    for name, code in TYPES.items():
        if array(code).itemsize != SIZES[name]:
            raise BadSnapshot(f'this Python has no array type of {SIZES[name]} bytes for {name}')
    manifest = read_manifest(folder)
    if wanted is None:
        for buoy in buoys(folder, manifest):
            print(buoy['id'], buoy['slug'], buoy['lat'], buoy['lng'], buoy['name'], sep='\t')
        return
    found = [buoy for buoy in buoys(folder, manifest) if wanted in (str(buoy['id']), buoy['slug'])]
    if not found:
        raise BadSnapshot(f'no buoy has the id or slug {wanted}')
    print('time', *MEASURES, sep='\t')
    for count, (time, values) in enumerate(readings(folder, manifest, found[0]['id'])):
        if limit is not None and count == int(limit):
            break
        text = datetime.fromtimestamp(time, timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
        print(text, *('' if value is None else value for value in values.values()), sep='\t')


if __name__ == '__main__':
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except (BadSnapshot, OSError) as error:
        sys.exit(f'read_snapshot: {error}')
