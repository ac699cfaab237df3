import Metrics
import Testing

struct ExpositionTests {
  @Test func `a gauge has its help, its type, and its value`() {
    var exposition = Exposition()
    exposition.gauge("ready", help: "1 if it's ready.", Sample(1))
    exposition.gauges("failed", help: "Checks.", [Sample(0.5, ["check": "disk"])])
    #expect(
      exposition.text == """
        # HELP ready 1 if it's ready.
        # TYPE ready gauge
        ready 1
        # HELP failed Checks.
        # TYPE failed gauge
        failed{check="disk"} 0.5

        """)
  }

  @Test func `the buckets of a histogram are cumulative`() {
    var exposition = Exposition()
    let distribution = Distribution(bounds: [0.5, 2], counts: [3, 1, 2], sum: 21.5)
    exposition.histogram("time_seconds", help: "Time.", [Sample(distribution, ["route": "/"])])
    #expect(
      exposition.text == """
        # HELP time_seconds Time.
        # TYPE time_seconds histogram
        time_seconds_bucket{route="/",le="0.5"} 3
        time_seconds_bucket{route="/",le="2"} 4
        time_seconds_bucket{route="/",le="+Inf"} 6
        time_seconds_sum{route="/"} 21.5
        time_seconds_count{route="/"} 6

        """)
  }

  @Test func `labels and help can't end their line`() {
    var exposition = Exposition()
    exposition.counter("events_total", help: "a\\b\nc\"d", [Sample(2, ["name": "a\"b\\c\nd"])])
    #expect(
      exposition.text == #"""
        # HELP events_total a\\b\nc"d
        # TYPE events_total counter
        events_total{name="a\"b\\c\nd"} 2

        """#)
  }

  @Test(arguments: [
    (Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e15, "1000000000000000"),
  ])
  func `special values have their own text`(value: Double, text: String) {
    var exposition = Exposition()
    exposition.gauge("value", help: "Value.", Sample(value))
    let line = exposition.text.split(separator: "\n").last.map(String.init)
    #expect(line == "value \(text)")
  }

  @Test func `metrics without samples are left out`() {
    var exposition = Exposition()
    exposition.counter("events_total", help: "Events.", [])
    exposition.histogram("time_seconds", help: "Time.", [])
    #expect(exposition.text.isEmpty)
  }
}

struct CounterTests {
  @Test func `concurrent events are all counted`() async {
    let counters = Counters()
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for index in 0..<1_000 {
            counters.add(index % 32)
          }
        }
      }
    }
    let sum = (0..<32).map(counters.value).reduce(0, +)
    #expect(sum == 8_000)
  }

  @Test func `a duration is in the first bucket whose bound isn't less`() {
    let histogram = DurationHistogram()
    for nanoseconds: UInt64 in [0, 1_000_000, 1_000_001, 60_000_000_000] {
      histogram.observe(nanoseconds: nanoseconds)
    }
    let distribution = histogram.distribution
    #expect(distribution.counts.first == 2)
    #expect(distribution.counts[1] == 1)
    #expect(distribution.counts.last == 1)
    #expect(abs(distribution.sum - 60.002000001) < 1e-9)
  }
}
