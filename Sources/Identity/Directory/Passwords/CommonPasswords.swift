import Compression
import Text

/// The 10,000 most common passwords of at least eight characters; the README next to them has their
/// source.
enum CommonPasswords {
  /// Compared as ``SearchText`` folds it: regardless of case, accents, character width, spaces around
  /// it, and invisible characters.
  static func contain(_ password: String) -> Bool {
    all.contains(UntrustedText(SearchText.folded(password)))
  }

  static let all: Set<UntrustedText> = {
    guard
      let text = try? gunzip(PackageResources.common_passwords_txt_gz, atMost: 1 << 20)
    else { preconditionFailure("the common passwords can’t be decompressed") }
    return Set(
      text.split(separator: UInt8(ascii: "\n")).map {
        UntrustedText(String(decoding: $0, as: UTF8.self))
      })
  }()
}
