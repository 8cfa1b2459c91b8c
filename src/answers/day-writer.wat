;; Writes days of a season as JSON: the text before each value is copied, value and samples are put behind it.
;; `npm run wasm` assembles this file into `day-writer-code.ts`; `{NAME}` is an address of
;; `day-writer-layout.ts`. Whole numbers below 10,000 lie at 0.
(module
  (import "days" "memory" (memory 1))

  ;; Of the days `day` to before `to`, whose texts begin at `head`. `length` has the bytes of each day's text,
  ;; one byte a day from the season's first on. A value counts `factor` hundredths. Days without samples are
  ;; left out. Returns where the text ends.
  (func (export "write")
    (param $head i32) (param $length i32) (param $day i32) (param $to i32) (param $factor i32) (result i32)
    (local $at i32) (local $value i32) (local $whole i32) (local $count i32) (local $headBytes i32)
    (local.set $at (i32.const {OUTPUT}))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $day) (local.get $to)))
        (local.set $headBytes (i32.load8_u (i32.add (local.get $length) (local.get $day))))
        (local.set $count (i32.load offset={COUNTS} (i32.shl (local.get $day) (i32.const 2))))
        (if (local.get $count)
          (then
            ;; 144 bytes, more than any head has; what is behind it is written over.
            (v128.store (local.get $at) (v128.load (local.get $head)))
            (v128.store offset=16 (local.get $at) (v128.load offset=16 (local.get $head)))
            (v128.store offset=32 (local.get $at) (v128.load offset=32 (local.get $head)))
            (v128.store offset=48 (local.get $at) (v128.load offset=48 (local.get $head)))
            (v128.store offset=64 (local.get $at) (v128.load offset=64 (local.get $head)))
            (v128.store offset=80 (local.get $at) (v128.load offset=80 (local.get $head)))
            (v128.store offset=96 (local.get $at) (v128.load offset=96 (local.get $head)))
            (v128.store offset=112 (local.get $at) (v128.load offset=112 (local.get $head)))
            (v128.store offset=128 (local.get $at) (v128.load offset=128 (local.get $head)))
            (local.set $at (i32.add (local.get $at) (local.get $headBytes)))

            (local.set $value (i32.load offset={VALUES} (i32.shl (local.get $day) (i32.const 2))))
            (if (i32.eq (local.get $value) (i32.const 0x80000000))
              (then
                (i32.store (local.get $at) (i32.const 0x6c6c756e)) ;; null
                (local.set $at (i32.add (local.get $at) (i32.const 4))))
              (else
                (if (i32.lt_s (local.get $value) (i32.const 0))
                  (then
                    (i32.store8 (local.get $at) (i32.const 0x2d)) ;; -
                    (local.set $at (i32.add (local.get $at) (i32.const 1)))
                    (local.set $value (i32.sub (i32.const 0) (local.get $value)))))
                (local.set $value (i32.mul (local.get $value) (local.get $factor)))
                (local.set $whole (i32.div_u (local.get $value) (i32.const 100)))
                (i32.store (local.get $at) (i32.load (i32.shl (local.get $whole) (i32.const 2))))
                (local.set $at (i32.add (local.get $at) (i32.load8_u offset={WHOLE_NUMBERS_LENGTHS} (local.get $whole))))
                (local.set $value (i32.sub (local.get $value) (i32.mul (local.get $whole) (i32.const 100))))
                (i32.store (local.get $at) (i32.load offset={HUNDREDTHS} (i32.shl (local.get $value) (i32.const 2))))
                (local.set $at (i32.add (local.get $at) (i32.load8_u offset={HUNDREDTHS_LENGTHS} (local.get $value))))))

            ;; ,"sample_count":
            (v128.store (local.get $at)
              (v128.const i8x16 0x2c 0x22 0x73 0x61 0x6d 0x70 0x6c 0x65 0x5f 0x63 0x6f 0x75 0x6e 0x74 0x22 0x3a))
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (if (i32.lt_u (local.get $count) (i32.const 10000))
              (then
                (i32.store (local.get $at) (i32.load (i32.shl (local.get $count) (i32.const 2))))
                (local.set $at (i32.add (local.get $at) (i32.load8_u offset={WHOLE_NUMBERS_LENGTHS} (local.get $count)))))
              (else
                (local.set $whole (i32.div_u (local.get $count) (i32.const 100)))
                (i32.store (local.get $at) (i32.load (i32.shl (local.get $whole) (i32.const 2))))
                (local.set $at (i32.add (local.get $at) (i32.load8_u offset={WHOLE_NUMBERS_LENGTHS} (local.get $whole))))
                (local.set $count (i32.sub (local.get $count) (i32.mul (local.get $whole) (i32.const 100))))
                (local.set $whole (i32.div_u (local.get $count) (i32.const 10)))
                (i32.store8 (local.get $at) (i32.add (i32.const 0x30) (local.get $whole)))
                (i32.store8 offset=1 (local.get $at)
                  (i32.add (i32.const 0x30)
                    (i32.sub (local.get $count) (i32.mul (local.get $whole) (i32.const 10)))))
                (local.set $at (i32.add (local.get $at) (i32.const 2)))))
            (i32.store8 (local.get $at) (i32.const 0x7d)) ;; }
            (local.set $at (i32.add (local.get $at) (i32.const 1)))))
        (local.set $head (i32.add (local.get $head) (local.get $headBytes)))
        (local.set $day (i32.add (local.get $day) (i32.const 1)))
        (br $next)))
    (local.get $at)))
