import Identity

extension Words {
  /// A key as people type it: four letters by four.
  static func inFours(_ key: Secret) -> String {
    let letters = Array(key.revealedText)
    return stride(from: 0, to: letters.count, by: 4).map { start in
      String(letters[start..<min(start + 4, letters.count)])
    }.joined(separator: " ")
  }
}
