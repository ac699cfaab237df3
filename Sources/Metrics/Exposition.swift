/// Values by bucket, for a histogram.
public struct Distribution: Sendable, Equatable {
  /// The upper bounds of the buckets, ascending, without infinity.
  public let bounds: [Double]
  /// The number of values in each bucket; the last one has those above all bounds.
  public let counts: [Int]
  /// The sum of all values.
  public let sum: Double

  /// Creates a distribution; traps unless there's one more count than there are bounds.
  public init(bounds: [Double], counts: [Int], sum: Double) {
    precondition(counts.count == bounds.count + 1, "a count for each bucket")
    self.bounds = bounds
    self.counts = counts
    self.sum = sum
  }
}

/// A value with its labels.
public struct Sample<Value: Sendable>: Sendable {
  /// The labels by name.
  public let labels: KeyValuePairs<String, String>
  /// The value.
  public let value: Value

  /// Creates a sample.
  public init(_ value: Value, _ labels: KeyValuePairs<String, String> = [:]) {
    self.value = value
    self.labels = labels
  }
}

/// Metrics in the text format of Prometheus, version 0.0.4.
///
/// Metrics without samples are left out.
public struct Exposition: Sendable {
  /// The media type of the text.
  public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

  /// The text so far.
  public private(set) var text = ""

  /// Creates an empty text.
  public init() {}

  /// Adds a value that can increase and decrease.
  public mutating func gauge(_ name: String, help: String, _ sample: Sample<Double>) {
    add(name, help, "gauge", [sample])
  }

  /// Adds values that can increase and decrease.
  public mutating func gauges(_ name: String, help: String, _ samples: [Sample<Double>]) {
    add(name, help, "gauge", samples)
  }

  /// Adds seconds that only increase; the name ends with `_seconds_total`.
  public mutating func counterOfSeconds(_ name: String, help: String, _ seconds: Double) {
    add(name, help, "counter", [Sample(seconds)])
  }

  /// Adds a value that only increases; its name ends with `_total`.
  public mutating func counter(_ name: String, help: String, _ samples: [Sample<Int>]) {
    add(name, help, "counter", samples.map { Sample(Double($0.value), $0.labels) })
  }

  /// Adds a histogram.
  public mutating func histogram(
    _ name: String, help: String, _ samples: [Sample<Distribution>]
  ) {
    guard !samples.isEmpty else { return }
    head(name, help, "histogram")
    for sample in samples {
      let labels = sample.labels.map { ($0.key, $0.value) }
      var count = 0
      for (bound, more) in zip(sample.value.bounds + [.infinity], sample.value.counts) {
        count += more
        line("\(name)_bucket", labels + [("le", Self.text(bound))], Double(count))
      }
      line("\(name)_sum", labels, sample.value.sum)
      line("\(name)_count", labels, Double(count))
    }
  }

  private mutating func add(
    _ name: String, _ help: String, _ kind: String, _ samples: [Sample<Double>]
  ) {
    guard !samples.isEmpty else { return }
    head(name, help, kind)
    for sample in samples { line(name, sample.labels.map { ($0.key, $0.value) }, sample.value) }
  }

  private mutating func head(_ name: String, _ help: String, _ kind: String) {
    text += "# HELP \(name) \(Self.escaped(help, quotes: false))\n# TYPE \(name) \(kind)\n"
  }

  private mutating func line(_ name: String, _ labels: [(String, String)], _ value: Double) {
    text += name
    if !labels.isEmpty {
      let pairs = labels.map { "\($0)=\"\(Self.escaped($1, quotes: true))\"" }
      text += "{\(pairs.joined(separator: ","))}"
    }
    text += " \(Self.text(value))\n"
  }

  private static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int(exactly: value).map(String.init) ?? "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
