import Host
import Localization
import Synchronization

/// The program's output.
///
/// Output that can't be written, as on a full disk or after its reader has ended, is lost: a server
/// keeps serving, and a command does what it was asked to and then reports the loss.
enum Terminal {
  /// Why output was lost; nil if none was.
  ///
  /// There's one standard output, so this is shared as well.
  private static let failure = Mutex<String?>(nil)

  /// Prints a message to standard output.
  static func say(_ message: Message) { say(OperatorText.string(message)) }

  /// Prints a message to standard error.
  static func complain(_ message: Message) { complain(OperatorText.string(message)) }

  /// Prints a line to standard output, with control characters as escapes.
  ///
  /// - Returns: False if it can't be written.
  @discardableResult
  static func say(_ line: String) -> Bool { write(Array((visible(line) + "\n").utf8)) }

  /// Prints a line to standard error, with control characters as escapes.
  ///
  /// - Returns: False if it can't be written.
  @discardableResult
  static func complain(_ line: String) -> Bool { prompt(visible(line) + "\n") }

  /// Prints text to standard error without a line break.
  ///
  /// - Returns: False if it can't be written.
  @discardableResult
  static func prompt(_ text: String) -> Bool {
    do { try StandardStream.error.write(Array(text.utf8)) } catch { return false }
    return true
  }

  /// Writes bytes to standard output.
  ///
  /// - Returns: False if they can't be written.
  @discardableResult
  static func write(_ bytes: [UInt8]) -> Bool {
    do { try StandardStream.output.write(bytes) } catch {
      failure.withLock { $0 = error.reason }
      return false
    }
    return true
  }

  /// Reports that standard output couldn't be written.
  ///
  /// - Returns: The exit code: 1 if output was lost.
  static func reportLoss() -> Int32 {
    guard let reason = failure.withLock({ $0 }) else { return 0 }
    complain(Message("cli.the-output-cant-be-written", ["reason": .text(reason)]))
    return 1
  }

  /// Returns text with escapes, such as `\u001B`, for characters that control the terminal, except
  /// line feeds and tabs.
  ///
  /// In a JSON document, the escapes have the value of the characters.
  static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var visible = ""
    for scalar in text.unicodeScalars {
      if isControl(scalar) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        visible += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        visible.unicodeScalars.append(scalar)
      }
    }
    return visible
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .control && scalar != "\n" && scalar != "\t"
  }

  /// Returns untrusted text at most 300 scalars long, with a replacement for characters that
  /// control the terminal or the direction of the text.
  static func plain(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.prefix(300).map { scalar in
          switch scalar.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: scalar
          }
        }))
  }
}
