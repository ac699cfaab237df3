import Crypto
import Host
import Localization

/// A file with public evidence keys, as `evidence key --all` prints them.
struct EvidenceKeyFile {
  /// The maximum size, in bytes: room for thousands of keys.
  static let mostBytes = 1 << 20

  let path: String

  func keys() throws(ConfigurationError) -> [Ed25519PublicKey] {
    let data: [UInt8]
    do { data = try ReadableFile.contents(path, atMost: Self.mostBytes + 1) } catch {
      throw ConfigurationError(reading: path, error)
    }
    guard data.count <= Self.mostBytes else {
      throw ConfigurationError(
        Message(
          "{path} is larger than {limit}\u{A0}MiB. A file of evidence keys is much smaller.",
          ["path": .text(path), "limit": .number(Self.mostBytes >> 20)]))
    }
    let keys = Ed25519PublicKey.all(pem: String(decoding: data, as: UTF8.self))
    guard !keys.isEmpty else {
      throw ConfigurationError(
        Message("{path} isn't an Ed25519 public key in PEM format.", ["path": .text(path)]))
    }
    return keys
  }
}
