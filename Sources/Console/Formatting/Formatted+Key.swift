import Crypto
import Identity

extension Formatted {
  /// Formats a key for typing, in groups of four letters.
  static func inFours(_ key: Secret) -> String {
    let letters = Array(key.revealedText)
    return stride(from: 0, to: letters.count, by: 4).map { start in
      String(letters[start..<min(start + 4, letters.count)])
    }.joined(separator: " ")
  }
}
