import Crypto
import Host
import Localization

/// A master key that was passed to the program, which uses it instead of the file in the data
/// folder and can't replace it.
struct PassedKey: Sendable {
  static let variable = "COUNTERSIGN_MASTER_KEY"
  /// The credential of the systemd unit that can contain the key.
  static let credential = "master-key"

  let source: String
  private let text: Result<String, SystemError>

  /// Reads the variable, or else the credential; nil when there's neither.
  init?(environment: [String: String]) {
    if let text = environment[Self.variable] {
      (source, self.text) = (Self.variable, .success(text))
      return
    }
    guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
    source = "\(folder)/\(Self.credential)"
    do throws(SystemError) {
      text = .success(String(decoding: try ReadableFile.contents(source), as: UTF8.self))
    } catch {
      // Another key must not be created, or used, in place of one that can't be read.
      guard !error.isMissing else { return nil }
      text = .failure(error)
    }
  }

  func ring() throws(ConfigurationError) -> KeyRing {
    let text: String
    do { text = try self.text.get() } catch { throw ConfigurationError(reading: source, error) }
    do { return try KeyRing(text: text) } catch {
      throw ConfigurationError(
        Message(
          "{variable} isn't a master key: {reason}",
          ["variable": .text(source), "reason": .text(error.reason)]))
    }
  }
}
