import Crypto
import Foundation
import Localization

/// A master key that was passed to the program, which uses it instead of the file in the data
/// folder and can't replace it.
struct PassedKey: Sendable {
  /// The environment variable that can contain the key.
  static let variable = "COUNTERSIGN_MASTER_KEY"
  /// The credential of the systemd unit that can contain the key.
  static let credential = "master-key"

  /// The variable or the file that contains the key.
  let source: String
  private let text: String

  /// Reads the variable, or else the credential; nil when there's neither.
  init?(environment: [String: String]) {
    if let text = environment[Self.variable] {
      (source, self.text) = (Self.variable, text)
      return
    }
    guard let folder = environment["CREDENTIALS_DIRECTORY"],
      let data = FileManager.default.contents(atPath: "\(folder)/\(Self.credential)")
    else { return nil }
    (source, text) = ("\(folder)/\(Self.credential)", String(decoding: data, as: UTF8.self))
  }

  /// Parses the keys.
  func ring() throws(ConfigurationError) -> KeyRing {
    do { return try KeyRing(text: text) } catch {
      throw ConfigurationError(
        Message(
          "cli.isnt-a-master-key", ["variable": .text(source), "reason": .text(error.reason)]))
    }
  }
}
