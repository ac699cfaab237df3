/// The languages that a client prefers, from its `Accept-Language` header field.
public struct LanguagePreferences: Sendable {
  /// The language ranges, the most preferred first, in lowercase.
  private let ranges: [Substring]

  private static let mostRanges = 20

  /// Parses the value of the field; malformed parts are ignored.
  public init(_ field: String) {
    let weighted = field.lowercased().split(separator: ",").prefix(Self.mostRanges).compactMap {
      part -> (range: Substring, weight: Double)? in
      let parameters = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
      guard let range = parameters.first, !range.isEmpty else { return nil }
      let weight = parameters.dropFirst().first { $0.hasPrefix("q=") }.map {
        Double($0.dropFirst(2))
      }
      guard let weight = weight ?? 1, weight > 0 else { return nil }
      return (range[...], weight)
    }
    // A stable sort: ranges of the same weight keep their order.
    ranges = weighted.enumerated().sorted {
      ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset)
    }.map(\.element.range)
  }

  /// Returns the index of the best of the locales; the first is the default.
  ///
  /// A range such as `de-AT` also accepts `de`, and `pt` accepts `pt-BR`.
  public func best(among locales: [String]) -> Int {
    let locales = locales.map { $0.lowercased() }
    for range in ranges where range != "*" {
      var range = range
      while true {
        if let exact = locales.firstIndex(where: { $0 == range }) { return exact }
        if let wider = locales.firstIndex(where: { $0.hasPrefix(range + "-") }) { return wider }
        guard let hyphen = range.lastIndex(of: "-") else { break }
        range = range[..<hyphen]
      }
    }
    return 0
  }
}
