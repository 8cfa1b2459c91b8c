;; Writes readings as JSON. `npm run wasm` assembles this file into `reading-writer-code.ts`; `{NAME}` is an
;; address of `reading-writer-layout.ts`. Texts of two digits lie at 0.
;;
;; Numbers are written out five times: calls for them took a fifth of the time.
(module
  (import "readings" "memory" (memory 1))
  (import "readings" "energyFactor" (global $energyFactor f64))

  ;; The first `count` rows of the columns, 1 at least. `headLength`: bytes of `{"id":6`. `end`: the two
  ;; characters behind each reading. Returns where the text ends.
  (func (export "write") (param $count i32) (param $headLength i32) (param $end i32) (result i32)
    (local $at i32) (local $row i32) (local $time i32) (local $height i32) (local $period i32) (local $value i32)
    (local $whole i32) (local $word i32) (local $rest i32) (local $hex v128) (local $energy f64)
    (local $day i32) (local $dateDay i32) (local $date v128) (local $dayText i32)
    (local $hour i32) (local $minute i32) (local $second i32)
    (local $days i32) (local $era i32) (local $year i32) (local $month i32)
    (local.set $at (i32.const {OUTPUT}))
    (local.set $dateDay (i32.const -1))
    (loop $next
      ;; {"id":6, and the time in ten digits
      (local.set $time (i32.load offset={TIMES} (i32.shl (local.get $row) (i32.const 2))))
      (v128.store (local.get $at) (v128.load offset={HEAD} (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (local.get $headLength)))
      (local.set $value (i32.div_u (local.get $time) (i32.const 1000)))
      (local.set $rest (i32.div_u (local.get $value) (i32.const 1000)))
      (local.set $whole (i32.div_u (local.get $rest) (i32.const 1000)))
      (i32.store8 (local.get $at) (i32.add (local.get $whole) (i32.const 0x30)))
      (i32.store offset=1 (local.get $at)
        (i32.load offset={THREE_DIGITS+1}
          (i32.shl
            (i32.sub (local.get $rest) (i32.mul (local.get $whole) (i32.const 1000)))
            (i32.const 2))))
      (i32.store offset=4 (local.get $at)
        (i32.load offset={THREE_DIGITS+1}
          (i32.shl
            (i32.sub (local.get $value) (i32.mul (local.get $rest) (i32.const 1000)))
            (i32.const 2))))
      (i32.store offset=7 (local.get $at)
        (i32.load offset={THREE_DIGITS+1}
          (i32.shl
            (i32.sub (local.get $time) (i32.mul (local.get $value) (i32.const 1000)))
            (i32.const 2))))

      ;; ,"uuid":"0000, and the time in hexadecimal digits: its bytes, the high one first, each twice; halves
      ;; of them; their digits. The hyphen comes last.
      (v128.store offset=10 (local.get $at) (v128.load offset={UUID} (i32.const 0)))
      (local.set $hex (i32x4.splat (local.get $time)))
      (local.set $hex
        (i8x16.shuffle 3 3 2 2 2 1 1 0 0 0 0 0 0 0 0 0 (local.get $hex) (local.get $hex)))
      (local.set $hex
        (v128.bitselect
          (i8x16.shr_u (local.get $hex) (i32.const 4))
          (v128.and (local.get $hex) (v128.load offset={LOW_HALVES} (i32.const 0)))
          (v128.load offset={IS_HIGH_HALF} (i32.const 0))))
      (v128.store offset=23 (local.get $at)
        (i8x16.swizzle (v128.load offset={HEX_DIGITS} (i32.const 0)) (local.get $hex)))
      (i32.store8 offset=27 (local.get $at) (i32.const 0x2d)) ;; -

      ;; -8000-8000-000000000006","significient_height":
      (v128.store offset=32 (local.get $at) (v128.load offset={TAIL} (i32.const 0)))
      (v128.store offset=48 (local.get $at) (v128.load offset={TAIL+16} (i32.const 0)))
      (v128.store offset=64 (local.get $at) (v128.load offset={TAIL+32} (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (i32.const 79)))
      (local.set $height (i32.load16_u offset={HEIGHTS} (i32.shl (local.get $row) (i32.const 1))))
      (local.set $value (local.get $height))
      (if (i32.eq (local.get $value) (i32.const 65535))
        (then
          (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
          (local.set $at (i32.add (local.get $at) (i32.const 4))))
        (else
          (local.set $whole (i32.div_u (local.get $value) (i32.const 1000)))
          (local.set $word (i32.load offset={WHOLE_NUMBERS} (i32.shl (local.get $whole) (i32.const 2))))
          (i32.store (local.get $at) (local.get $word))
          (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $word) (i32.const 24))))
          (local.set $value (i32.sub (local.get $value) (i32.mul (local.get $whole) (i32.const 1000))))
          (i32.store (local.get $at) (i32.load offset={THREE_DIGITS} (i32.shl (local.get $value) (i32.const 2))))
          (local.set $at (i32.add (local.get $at) (i32.load8_u offset={THREE_DIGITS_LENGTHS} (local.get $value))))))

      ;; ,"maximum_height":
      (v128.store (local.get $at) (v128.load offset={MAXIMUM_HEIGHT} (i32.const 0)))
      (i32.store16 offset=16 (local.get $at) (i32.const 0x3a22)) ;; ":
      (local.set $at (i32.add (local.get $at) (i32.const 18)))
      (local.set $value (i32.load16_u offset={MAXIMUMS} (i32.shl (local.get $row) (i32.const 1))))
      (if (i32.eq (local.get $value) (i32.const 65535))
        (then
          (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
          (local.set $at (i32.add (local.get $at) (i32.const 4))))
        (else
          (local.set $whole (i32.div_u (local.get $value) (i32.const 1000)))
          (local.set $word (i32.load offset={WHOLE_NUMBERS} (i32.shl (local.get $whole) (i32.const 2))))
          (i32.store (local.get $at) (local.get $word))
          (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $word) (i32.const 24))))
          (local.set $value (i32.sub (local.get $value) (i32.mul (local.get $whole) (i32.const 1000))))
          (i32.store (local.get $at) (i32.load offset={THREE_DIGITS} (i32.shl (local.get $value) (i32.const 2))))
          (local.set $at (i32.add (local.get $at) (i32.load8_u offset={THREE_DIGITS_LENGTHS} (local.get $value))))))

      ;; ,"period":
      (v128.store (local.get $at) (v128.load offset={PERIOD} (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (i32.const 10)))
      (local.set $period (i32.load16_u offset={PERIODS} (i32.shl (local.get $row) (i32.const 1))))
      (local.set $value (local.get $period))
      (if (i32.eq (local.get $value) (i32.const 65535))
        (then
          (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
          (local.set $at (i32.add (local.get $at) (i32.const 4))))
        (else
          (local.set $whole (i32.div_u (local.get $value) (i32.const 1000)))
          (local.set $word (i32.load offset={WHOLE_NUMBERS} (i32.shl (local.get $whole) (i32.const 2))))
          (i32.store (local.get $at) (local.get $word))
          (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $word) (i32.const 24))))
          (local.set $value (i32.sub (local.get $value) (i32.mul (local.get $whole) (i32.const 1000))))
          (i32.store (local.get $at) (i32.load offset={THREE_DIGITS} (i32.shl (local.get $value) (i32.const 2))))
          (local.set $at (i32.add (local.get $at) (i32.load8_u offset={THREE_DIGITS_LENGTHS} (local.get $value))))))

      ;; ,"time":"2026-03 and -27T of a day serve its other readings, too. Howard Hinnant's algorithm, as in
      ;; `sea/calendar.ts`.
      (local.set $day (i32.div_u (local.get $time) (i32.const 86400)))
      (if (i32.ne (local.get $day) (local.get $dateDay))
        (then
          (local.set $dateDay (local.get $day))
          (local.set $days (i32.add (local.get $day) (i32.const 719468)))
          (local.set $era (i32.div_u (local.get $days) (i32.const 146097)))
          (local.set $days (i32.sub (local.get $days) (i32.mul (local.get $era) (i32.const 146097))))
          (local.set $year
            (i32.div_u
              (i32.sub
                (i32.add
                  (i32.sub (local.get $days) (i32.div_u (local.get $days) (i32.const 1460)))
                  (i32.div_u (local.get $days) (i32.const 36524)))
                (i32.div_u (local.get $days) (i32.const 146096)))
              (i32.const 365)))
          (local.set $days
            (i32.sub
              (i32.add
                (i32.sub (local.get $days) (i32.mul (local.get $year) (i32.const 365)))
                (i32.div_u (local.get $year) (i32.const 100)))
              (i32.shr_u (local.get $year) (i32.const 2))))
          (local.set $month
            (i32.div_u (i32.add (i32.mul (local.get $days) (i32.const 5)) (i32.const 2)) (i32.const 153)))
          (local.set $days
            (i32.sub
              (i32.add (local.get $days) (i32.const 1))
              (i32.div_u (i32.add (i32.mul (local.get $month) (i32.const 153)) (i32.const 2)) (i32.const 5))))
          (local.set $month
            (i32.add
              (local.get $month)
              (select (i32.const 3) (i32.const -9) (i32.lt_u (local.get $month) (i32.const 10)))))
          (local.set $year
            (i32.add
              (i32.add (local.get $year) (i32.mul (local.get $era) (i32.const 400)))
              (i32.le_u (local.get $month) (i32.const 2))))
          (local.set $whole (i32.div_u (local.get $year) (i32.const 100)))
          (local.set $date
            (i64x2.replace_lane 1
              (v128.load offset={TIME} (i32.const 0))
              (i64.or
                (i64.or
                  (i64.const 0x00002d0000000022)
                  (i64.shl (i64.load16_u (i32.shl (local.get $whole) (i32.const 1))) (i64.const 8)))
                (i64.or
                  (i64.shl
                    (i64.load16_u
                      (i32.shl
                        (i32.sub (local.get $year) (i32.mul (local.get $whole) (i32.const 100)))
                        (i32.const 1)))
                    (i64.const 24))
                  (i64.shl (i64.load16_u (i32.shl (local.get $month) (i32.const 1))) (i64.const 48))))))
          (local.set $dayText
            (i32.or
              (i32.const 0x5400002d)
              (i32.shl (i32.load16_u (i32.shl (local.get $days) (i32.const 1))) (i32.const 8))))))
      (v128.store (local.get $at) (local.get $date))
      (i32.store offset=16 (local.get $at) (local.get $dayText))
      (local.set $second (i32.sub (local.get $time) (i32.mul (local.get $day) (i32.const 86400))))
      (local.set $minute (i32.div_u (local.get $second) (i32.const 60)))
      (local.set $hour (i32.div_u (local.get $second) (i32.const 3600)))
      (i64.store offset=20 (local.get $at)
        (i64.or
          (i64.or
            (i64.const 0x00003a00003a0000)
            (i64.load16_u (i32.shl (local.get $hour) (i32.const 1))))
          (i64.or
            (i64.shl
              (i64.load16_u
                (i32.shl
                  (i32.sub (local.get $minute) (i32.mul (local.get $hour) (i32.const 60)))
                  (i32.const 1)))
              (i64.const 24))
            (i64.shl
              (i64.load16_u
                (i32.shl
                  (i32.sub (local.get $second) (i32.mul (local.get $minute) (i32.const 60)))
                  (i32.const 1)))
              (i64.const 48)))))

      ;; Z","water_temperature":
      (v128.store offset=28 (local.get $at) (v128.load offset={WATER_TEMPERATURE} (i32.const 0)))
      (i64.store offset=44 (local.get $at) (i64.load offset={WATER_TEMPERATURE+16} (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (i32.const 51)))
      (local.set $value (i32.load16_s offset={TEMPERATURES} (i32.shl (local.get $row) (i32.const 1))))
      (if (i32.eq (local.get $value) (i32.const -32768))
        (then
          (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
          (local.set $at (i32.add (local.get $at) (i32.const 4))))
        (else
          (if (i32.lt_s (local.get $value) (i32.const 0))
            (then
              (i32.store8 (local.get $at) (i32.const 0x2d)) ;; -
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (local.set $value (i32.sub (i32.const 0) (local.get $value)))))
          (local.set $whole (i32.div_u (local.get $value) (i32.const 100)))
          (local.set $word (i32.load offset={WHOLE_NUMBERS} (i32.shl (local.get $whole) (i32.const 2))))
          (i32.store (local.get $at) (local.get $word))
          (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $word) (i32.const 24))))
          (local.set $value (i32.sub (local.get $value) (i32.mul (local.get $whole) (i32.const 100))))
          (local.set $value (i32.mul (local.get $value) (i32.const 10)))
          (i32.store (local.get $at) (i32.load offset={THREE_DIGITS} (i32.shl (local.get $value) (i32.const 2))))
          (local.set $at (i32.add (local.get $at) (i32.load8_u offset={THREE_DIGITS_LENGTHS} (local.get $value))))))

      ;; ,"direction":
      (v128.store (local.get $at) (v128.load offset={DIRECTION} (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (i32.const 13)))
      (local.set $value (i32.load16_u offset={DIRECTIONS} (i32.shl (local.get $row) (i32.const 1))))
      (local.set $rest (i32.div_u (i32.add (local.get $value) (i32.const 1125)) (i32.const 2250)))
      (if (i32.eq (local.get $value) (i32.const 65535))
        (then
          (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
          (local.set $at (i32.add (local.get $at) (i32.const 4))))
        (else
          (local.set $whole (i32.div_u (local.get $value) (i32.const 100)))
          (local.set $word (i32.load offset={WHOLE_NUMBERS} (i32.shl (local.get $whole) (i32.const 2))))
          (i32.store (local.get $at) (local.get $word))
          (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $word) (i32.const 24))))
          (local.set $value (i32.sub (local.get $value) (i32.mul (local.get $whole) (i32.const 100))))
          (local.set $value (i32.mul (local.get $value) (i32.const 10)))
          (i32.store (local.get $at) (i32.load offset={THREE_DIGITS} (i32.shl (local.get $value) (i32.const 2))))
          (local.set $at (i32.add (local.get $at) (i32.load8_u offset={THREE_DIGITS_LENGTHS} (local.get $value))))))

      ;; ,"direction_compass":
      (v128.store (local.get $at) (v128.load offset={DIRECTION_COMPASS} (i32.const 0)))
      (i64.store offset=16 (local.get $at) (i64.load offset={DIRECTION_COMPASS+16} (i32.const 0)))
      (i64.store offset=21 (local.get $at) (i64.load offset={COMPASS} (i32.shl (local.get $rest) (i32.const 3))))
      (local.set $at
        (i32.add (i32.add (local.get $at) (i32.const 21)) (i32.load8_u offset={COMPASS_LENGTHS} (local.get $rest))))

      ;; ,"unit":"m","energy_per_wave":
      (v128.store (local.get $at) (v128.load offset={ENERGY} (i32.const 0)))
      (v128.store offset=16 (local.get $at) (v128.load offset={ENERGY+16} (i32.const 0)))
      (local.set $at (i32.add (local.get $at) (i32.const 30)))
      (if
        (i32.or
          (i32.or (i32.eqz (local.get $height)) (i32.eqz (local.get $period)))
          (i32.eq (local.get $period) (i32.const 65535)))
        (then
          (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
          (local.set $at (i32.add (local.get $at) (i32.const 4))))
        (else
          ;; The products in the order of `roundedEnergy`; halves are rounded up, as by Math.round.
          (local.set $energy (f64.div (f64.convert_i32_u (local.get $height)) (f64.const 1000)))
          (local.set $energy
            (f64.mul (f64.mul (global.get $energyFactor) (local.get $energy)) (local.get $energy)))
          (local.set $energy
            (f64.mul
              (f64.mul
                (local.get $energy)
                (f64.div (f64.convert_i32_u (local.get $period)) (f64.const 1000)))
              (f64.div (f64.convert_i32_u (local.get $period)) (f64.const 1000))))
          (local.set $value (i32.trunc_f64_u (local.get $energy)))
          (local.set $value
            (i32.add
              (local.get $value)
              (f64.ge (f64.sub (local.get $energy) (f64.convert_i32_u (local.get $value))) (f64.const 0.5))))
          ;; Eight digits at most: whole, and twice three behind.
          (local.set $whole (local.get $value))
          (if (i32.ge_u (local.get $value) (i32.const 1000))
            (then
              (local.set $rest (i32.div_u (local.get $value) (i32.const 1000)))
              (local.set $whole (local.get $rest))
              (if (i32.ge_u (local.get $rest) (i32.const 1000))
                (then (local.set $whole (i32.div_u (local.get $rest) (i32.const 1000)))))))
          (local.set $word (i32.load offset={WHOLE_NUMBERS} (i32.shl (local.get $whole) (i32.const 2))))
          (i32.store (local.get $at) (local.get $word))
          (local.set $at (i32.add (local.get $at) (i32.shr_u (local.get $word) (i32.const 24))))
          (if (i32.ge_u (local.get $value) (i32.const 1000))
            (then
              (if (i32.ge_u (local.get $rest) (i32.const 1000))
                (then
                  (i32.store (local.get $at)
                    (i32.load offset={THREE_DIGITS+1}
                      (i32.shl
                        (i32.sub (local.get $rest) (i32.mul (local.get $whole) (i32.const 1000)))
                        (i32.const 2))))
                  (local.set $at (i32.add (local.get $at) (i32.const 3)))))
              (i32.store (local.get $at)
                (i32.load offset={THREE_DIGITS+1}
                  (i32.shl
                    (i32.sub (local.get $value) (i32.mul (local.get $rest) (i32.const 1000)))
                    (i32.const 2))))
              (local.set $at (i32.add (local.get $at) (i32.const 3)))))))
      (i32.store16 (local.get $at) (local.get $end))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $row) (local.get $count))))
    (local.get $at)))
