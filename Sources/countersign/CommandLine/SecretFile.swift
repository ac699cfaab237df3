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
      do { data = try ReadableFile.contents(file) } catch {
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
