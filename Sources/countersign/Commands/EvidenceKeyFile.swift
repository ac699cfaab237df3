import Crypto
import Foundation
import Localization

/// A file with public evidence keys, as `evidence key --all` prints them.
struct EvidenceKeyFile {
  /// The maximum size, in bytes: room for thousands of keys.
  static let mostBytes = 1 << 20

  let path: String

  /// Reads all keys.
  func keys() throws(ConfigurationError) -> [Ed25519PublicKey] {
    let data = try read()
    guard data.count <= Self.mostBytes else {
      throw ConfigurationError(
        Message(
          "cli.path-is-too-large-for-keys",
          ["path": .text(path), "limit": .number(Self.mostBytes >> 20)]))
    }
    let keys = Ed25519PublicKey.all(pem: String(decoding: data, as: UTF8.self))
    guard !keys.isEmpty else {
      throw ConfigurationError(
        Message("cli.path-isnt-an-ed25519-public-key", ["path": .text(path)]))
    }
    return keys
  }

  /// Reads the file, or a part of it that's too large.
  private func read() throws(ConfigurationError) -> Data {
    do {
      let file = try FileHandle(forReadingFrom: URL(filePath: path))
      defer { try? file.close() }
      var data = Data()
      while data.count <= Self.mostBytes,
        let part = try file.read(upToCount: Self.mostBytes + 1 - data.count), !part.isEmpty
      {
        data += part
      }
      return data
    } catch {
      throw ConfigurationError(reading: path, error)
    }
  }
}
