import Crypto
import Host
import Localization

/// A secret from a file named by an option, or from an environment variable.
struct SecretFile {
  let option: String
  let variable: String

  /// Returns the first line of the file, or else the variable; nil if there's neither.
  func read(
    _ arguments: Arguments, _ environment: [String: String], _ problems: inout ConfigurationProblems
  ) -> Secret? {
    if let file = arguments.value(option) {
      let data: [UInt8]
      do { data = try ReadableFile.text(file) } catch {
        problems.append(ConfigurationError(reading: file, of: option, error), of: option)
        return nil
      }
      guard let text = String(validating: data, as: UTF8.self),
        let line = text.split(whereSeparator: \.isNewline).first
      else {
        problems.append(
          Message(
            "The --{name} {file} is empty, or isn't UTF-8 text.",
            ["name": .text(option), "file": .text(file)]),
          of: option)
        return nil
      }
      return Secret(String(line))
    }
    guard let text = environment[variable], !text.isEmpty else { return nil }
    return Secret(text)
  }
}

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
      text = .success(String(decoding: try ReadableFile.text(source), as: UTF8.self))
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
