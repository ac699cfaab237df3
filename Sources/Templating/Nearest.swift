extension Sequence<String> {
  /// Returns the elements sorted by edit distance to `name`.
  func nearest(to name: String) -> [String] {
    map { (text: $0, edits: $0.edits(to: name)) }
      .sorted { ($0.edits, $0.text) < ($1.edits, $1.text) }
      .map(\.text)
  }
}

extension String {
  /// Returns the Levenshtein distance to `other`, in bytes.
  fileprivate func edits(to other: String) -> Int {
    let target = Array(other.utf8)
    var row = Array(0...target.count)
    for (index, byte) in utf8.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in target.indices {
        let replaced = diagonal + (byte == target[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[target.count]
  }
}
