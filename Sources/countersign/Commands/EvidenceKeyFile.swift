import Crypto
import Foundation
import Localization

/// A file with public evidence keys, as `evidence key --all` prints them.
struct EvidenceKeyFile {
  let path: String

  /// Reads all keys.
  func keys() throws -> [Ed25519PublicKey] {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw ConfigurationError(Message("cli.path-cant-be-read", ["path": .text(path)]))
    }
    let keys = Ed25519PublicKey.all(pem: String(decoding: data, as: UTF8.self))
    guard !keys.isEmpty else {
      throw ConfigurationError(
        Message("cli.path-isnt-an-ed25519-public-key", ["path": .text(path)]))
    }
    return keys
  }
}
