import Crypto
import Dispatch
import Foundation
import Glibc
import Localization

/// Reads a new password: twice without echo on a terminal, otherwise one line of standard input.
enum PasswordPrompt {
  /// - Throws: `UsageError` when it's empty or not in UTF-8; `ConfigurationError` when the two
  ///   entries differ.
  static func read() throws -> Secret {
    guard isatty(STDIN_FILENO) == 1 else {
      guard let line = try line(), !line.isEmpty else {
        throw UsageError(Message("no password on standard input"))
      }
      return Secret(line)
    }
    let terminal = try QuietTerminal()
    defer { terminal.restore() }
    guard let first = try ask(Message("Password: ")), !first.isEmpty else {
      throw UsageError(Message("no password entered"))
    }
    guard let second = try ask(Message("Confirm password: ")),
      Array(second.utf8) == Array(first.utf8)
    else {
      throw ConfigurationError(Message("The passwords don't match. No changes made."))
    }
    return Secret(first)
  }

  private static func ask(_ prompt: Message) throws(UsageError) -> String? {
    Terminal.prompt(OperatorText.string(prompt))
    defer { Terminal.prompt("\n") }
    return try line()
  }

  /// Reads a line without its end; nil at the end of the input.
  ///
  /// `readLine` would replace bytes that aren't UTF-8, so that nobody could sign in with the
  /// password.
  private static func line() throws(UsageError) -> String? {
    var bytes: [UInt8] = []
    var isEnd = false
    while true {
      let byte = getchar()
      isEnd = byte == EOF
      guard !isEnd, byte != Int32(UInt8(ascii: "\n")) else { break }
      bytes.append(UInt8(truncatingIfNeeded: byte))
    }
    guard !isEnd || !bytes.isEmpty else { return nil }
    if !isEnd, bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let line = String(validating: bytes, as: UTF8.self) else {
      throw UsageError(
        Message("the password isn't valid UTF-8; check the encoding of the terminal or the file"))
    }
    return line
  }
}

/// A terminal without echo, until it's restored or the program is interrupted.
private struct QuietTerminal {
  private let settings: String
  private let interrupts: [any DispatchSourceSignal]

  init() throws {
    let kept = Self.stty(["-g"])
    guard let kept, Self.stty(["-echo"]) != nil else {
      throw ConfigurationError(
        Message(
          "Echo can't be turned off on this terminal. Pass the password on standard input instead.")
      )
    }
    settings = kept
    interrupts = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        _ = Self.stty([kept])
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  func restore() {
    for source in interrupts { source.cancel() }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    _ = Self.stty([settings])
  }

  private static func stty(_ words: [String]) -> String? {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["stty"] + words
    process.standardInput = FileHandle.standardInput
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return nil }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
