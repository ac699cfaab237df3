import Glibc
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

  static func say(_ message: Message) { say(document: OperatorText.string(message)) }

  static func complain(_ message: Message) { complain(document: OperatorText.string(message)) }

  static func say(columns: [String]) {
    say(document: columns.map(escaped).joined(separator: "\t"))
  }

  /// Prints a document, such as JSON or the program's own help, to standard output.
  ///
  /// Characters that control the terminal become escapes, except line feeds and tabs. In JSON, the
  /// escapes have the value of the characters. Text with values from outside is a ``Message``.
  ///
  /// - Returns: False if it can't be written.
  @discardableResult
  static func say(document: String) -> Bool { write(Array((visible(document) + "\n").utf8)) }

  /// Prints a document to standard error, as `say` does; returns false if it can't be written.
  @discardableResult
  static func complain(document: String) -> Bool { prompt(visible(document) + "\n") }

  /// Prints text to standard error without a line break; returns false if it can't be written.
  @discardableResult
  static func prompt(_ text: String) -> Bool {
    do { try StandardStream.error.write(Array(text.utf8)) } catch { return false }
    return true
  }

  /// - Returns: False if they can't be written.
  @discardableResult
  static func write(_ bytes: [UInt8]) -> Bool {
    do { try StandardStream.output.write(bytes) } catch {
      failure.withLock { $0 = error.reason }
      return false
    }
    return true
  }

  /// Reports that standard output couldn't be written; returns the exit code: 1 if output was lost.
  static func reportLoss() -> Int32 {
    guard let reason = failure.withLock({ $0 }) else { return 0 }
    complain(
      // Translators: At the end of a command, on standard error.
      Message(
        "The command finished, but its output can't be written: {reason}.",
        ["reason": .text(reason)]))
    return 1
  }

  /// Returns a value with escapes, such as `\u001B`, for every character that controls a terminal,
  /// ends a line or a column, or changes the direction of text.
  static func escaped(_ value: String) -> String { escaped(value, except: []) }

  /// Returns text with the same escapes, except for line feeds and tabs.
  static func visible(_ text: String) -> String { escaped(text, except: ["\n", "\t"]) }

  private static func escaped(_ text: String, except kept: Set<Unicode.Scalar>) -> String {
    func isEscaped(_ scalar: Unicode.Scalar) -> Bool { isControl(scalar) && !kept.contains(scalar) }
    guard text.unicodeScalars.contains(where: isEscaped) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      guard isEscaped(scalar) else {
        result.append(scalar)
        continue
      }
      for unit in UTF16.encode(scalar) ?? .init() {
        let digits = String(unit, radix: 16, uppercase: true)
        result += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars
      }
    }
    return String(result)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    // Joiners are part of words and emoji.
    case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
    default: false
    }
  }

  /// Returns the beginning of untrusted text, at most 300 scalars.
  static func excerpt(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(300)))
  }
}

/// A line on standard error that says how far a command is, if that's a terminal.
final class ProgressLine: Sendable {
  private let isShown = isatty(STDERR_FILENO) == 1
  private let message: @Sendable (_ table: Message.Value, _ rows: Message.Value) -> Message
  private let last = Mutex<ContinuousClock.Instant?>(nil)

  init(
    _ message: @escaping @Sendable (_ table: Message.Value, _ rows: Message.Value) -> Message
  ) {
    self.message = message
  }

  /// Shows how many rows of a table are done, at most five times a second.
  @Sendable func show(_ table: String, _ rows: Int) {
    guard isShown else { return }
    let now = ContinuousClock.now
    let isDue = last.withLock { last in
      guard last.map({ now - $0 >= .milliseconds(200) }) ?? true else { return false }
      last = now
      return true
    }
    guard isDue else { return }
    let text = OperatorText.string(message(.text(table), .number(rows)))
    Terminal.prompt("\r\u{1B}[K\(text)")
  }

  func end() {
    guard isShown, last.withLock({ $0 != nil }) else { return }
    Terminal.prompt("\r\u{1B}[K")
  }
}
