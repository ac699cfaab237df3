import Crypto
import Foundation
import Host
import Identity
import IdentityToolkitAPI
import JSON
import Localization
import Text

/// The reason the rest of a user file can't be read.
struct UserFileError: Error {
  let message: Message

  init(_ message: Message) { self.message = message }
}

struct FileRow: Sendable {
  let row: ImportRow
  let line: Int
}

/// Reads a user file in chunks, so that its size doesn't matter.
struct UserFileReader {
  enum Format: String {
    case json
    case csv

    /// `option` is the value of `--format`, without which the extension decides.
    ///
    /// - Throws: `UsageError` for an unknown format, or an unknown extension without `--format`.
    init(path: String, option: String?) throws(UsageError) {
      if let option {
        guard let format = Format(rawValue: option.lowercased()) else {
          throw UsageError(
            Message("unknown format {option}; use json or csv", ["option": .text(option)]))
        }
        self = format
        return
      }
      let name = path.lowercased()
      if name.hasSuffix(".json") {
        self = .json
      } else if name.hasSuffix(".csv") {
        self = .csv
      } else {
        throw UsageError(Message("the file name doesn't end in .json or .csv; add --format"))
      }
    }
  }

  private let handle: FileHandle
  private let file: UserFile
  private let format: Format
  private var elements = JSON.ElementReader(member: "users")
  private var lines = CSVReader()
  private var ready: [FileRow] = []
  private var isAtStart = true
  /// Whether a byte of the document was read that isn't white space.
  private var hasBegun = false
  private var isAtEnd = false
  /// The error at which reading stopped; thrown once the rows before it have been returned.
  private var trouble: UserFileError?

  init(path: String, format: Format, file: UserFile) throws(ConfigurationError) {
    guard !DataFolder.isFolder(path) else {
      throw ConfigurationError(reading: path, SystemError(EISDIR))
    }
    do { handle = try FileHandle(forReadingFrom: URL(filePath: path)) } catch {
      throw ConfigurationError(reading: path, error)
    }
    self.format = format
    self.file = file
  }

  /// Returns the next rows, at most `count`; empty at the end.
  ///
  /// - Throws: `UserFileError` when the rest of the file can't be read.
  mutating func next(_ count: Int) throws -> [FileRow] {
    while ready.count < count, !isAtEnd {
      do { try readMore() } catch let error as UserFileError {
        trouble = error
        isAtEnd = true
      }
    }
    if ready.isEmpty, let trouble { throw trouble }
    let rows = Array(ready.prefix(count))
    ready.removeFirst(rows.count)
    return rows
  }

  private mutating func readMore() throws {
    var chunk: [UInt8]
    do { chunk = try handle.read(upToCount: 1 << 18).map { Array($0) } ?? [] } catch {
      throw UserFileError(.verbatim(OperatorText.reason(of: error)))
    }
    isAtEnd = chunk.isEmpty
    // Some editors begin a file with it; the CSV parser skips it as well.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if isAtStart, format == .json, chunk.starts(with: mark) { chunk.removeFirst(mark.count) }
    isAtStart = false
    switch format {
    case .json:
      try checkBeginning(chunk)
      try readElements(chunk)
    case .csv:
      var records: [CSVReader.Record] = []
      try lines.take(chunk, isLast: isAtEnd, into: &records)
      for record in records { ready.append(FileRow(row: row(record), line: record.line)) }
    }
  }

  private func row(_ record: CSVReader.Record) -> ImportRow {
    switch record.fields {
    case .success(let fields): file.row(csv: fields)
    case .failure(let fault): .failure(.unreadable(OperatorText.string(fault.message)))
    }
  }

  /// Throws an error for a document that is a list of users without the object around it.
  private mutating func checkBeginning(_ chunk: [UInt8]) throws(UserFileError) {
    let blank: Set = [UInt8(ascii: " "), UInt8(ascii: "\t"), 0x0A, 0x0D]
    guard !hasBegun, let first = chunk.first(where: { !blank.contains($0) }) else { return }
    hasBegun = true
    guard first != UInt8(ascii: "[") else {
      throw UserFileError(Message("The JSON document has no \"users\" array."))
    }
  }

  private mutating func readElements(_ chunk: [UInt8]) throws {
    do throws(JSONError) {
      var found: [JSON.ElementReader.Element] = []
      defer {
        for element in found { ready.append(FileRow(row: row(element), line: element.line)) }
      }
      try elements.take(chunk, into: &found)
      guard isAtEnd else { return }
      try elements.finish()
    } catch {
      throw UserFileError(.verbatim("\(error)"))
    }
    guard elements.hasFound else {
      throw UserFileError(Message("The JSON document has no \"users\" array."))
    }
  }

  private func row(_ element: JSON.ElementReader.Element) -> ImportRow {
    do throws(JSONError) {
      return file.row(json: try JSON.parse(element.bytes, maximumDepth: 16))
    } catch {
      return .failure(.unreadable("\(error)"))
    }
  }
}

/// The options for password hashes, named as in the Firebase CLI.
enum HashOptions {
  static let all = [
    Option(
      "hash-algo", "NAME", variable: false,
      help: Message("Hash algorithm: SCRYPT, BCRYPT, … (default: detected from each hash).")),
    Option(
      "hash-key", "KEY", variable: false,
      help: Message("The signer key in base64 (HMAC_*, SCRYPT).")),
    Option(
      "salt-separator", "TEXT", variable: false,
      help: Message("The salt separator in base64 (SCRYPT).")),
    Option(
      "rounds", "N", variable: false,
      help: Message("Rounds (MD5, SHA*, PBKDF*, SCRYPT), or passes (ARGON2).")),
    Option(
      "mem-cost", "N", variable: false,
      help: Message("Memory cost (SCRYPT, STANDARD_SCRYPT), or memory in KiB (ARGON2).")),
    Option(
      "parallelization", "N", variable: false,
      help: Message("Parallelization (STANDARD_SCRYPT, ARGON2).")),
    Option(
      "block-size", "N", variable: false, help: Message("Block size (STANDARD_SCRYPT).")),
    Option(
      "dk-len", "N", variable: false, help: Message("Length of the hash (STANDARD_SCRYPT, ARGON2).")
    ),
    Option(
      "hash-input-order", "ORDER", variable: false,
      help: Message("SALT_FIRST or PASSWORD_FIRST (HMAC_*, MD5, SHA*).")),
    Option(
      "argon2-type", "TYPE", variable: false,
      help: Message("argon2id, argon2i, or argon2d (default: argon2id).")),
    Option("argon2-version", "N", variable: false, help: Message("16 or 19 (default: 19).")),
    Option(
      "associated-data", "DATA", variable: false,
      help: Message("Associated data in base64 (ARGON2).")),
  ]

  /// - Throws: `UsageError` when a value isn't a number, base64, or a known name.
  static func parameters(_ arguments: Arguments) throws(UsageError) -> HashParameters {
    var parameters = HashParameters()
    parameters.algorithm = arguments.value("hash-algo")?.uppercased()
    parameters.signerKey = try bytes("hash-key", arguments)
    parameters.saltSeparator = try bytes("salt-separator", arguments)
    parameters.rounds = try number("rounds", arguments)
    parameters.memoryCost = try number("mem-cost", arguments)
    parameters.cpuMemCost = parameters.memoryCost
    parameters.parallelization = try number("parallelization", arguments)
    parameters.blockSize = try number("block-size", arguments)
    parameters.dkLen = try number("dk-len", arguments)
    switch arguments.value("hash-input-order")?.uppercased() {
    case nil: break
    case "SALT_FIRST": parameters.order = .saltFirst
    case "PASSWORD_FIRST": parameters.order = .passwordFirst
    case let word?:
      throw UsageError(
        Message("unknown order {word}; use SALT_FIRST or PASSWORD_FIRST", ["word": .text(word)]))
    }
    guard parameters.algorithm == "ARGON2" else { return parameters }
    let word = arguments.value("argon2-type")?.lowercased() ?? Argon2.Kind.id.rawValue
    guard let kind = Argon2.Kind(rawValue: word) else {
      throw UsageError(
        Message("unknown type {word}; use argon2id, argon2i, or argon2d", ["word": .text(word)]))
    }
    parameters.argon2Length = parameters.dkLen
    parameters.argon2 = Argon2(
      kind: kind, version: try number("argon2-version", arguments) ?? 19,
      memory: parameters.memoryCost ?? 0, passes: parameters.rounds ?? 0,
      lanes: parameters.parallelization ?? 1,
      associatedData: try bytes("associated-data", arguments) ?? [])
    return parameters
  }

  /// Describes invalid parameters; the error has the names of the REST API, the text the options'.
  static func sentence(_ error: HashParameterError) -> Message {
    switch error {
    case .unknownAlgorithm: Message("unknown hash algorithm")
    case .missing(let name):
      Message("the hash algorithm requires --{option}", ["option": .text(option(name))])
    case .outOfRange(let name, let range):
      Message(
        "--{option} must be between {least} and {most}",
        [
          "option": .text(option(name)), "least": .text("\(range.lowerBound)"),
          "most": .text("\(range.upperBound)"),
        ])
    case .notPowerOfTwo(let name):
      Message("--{option} must be a power of two greater than one", ["option": .text(option(name))])
    case .tooLong(let name):
      Message("--{option} is longer than 1024 bytes", ["option": .text(option(name))])
    case .tooExpensive:
      Message("a hash can use at most 256 MiB, and 1 GiB across all parallelization or iterations")
    }
  }

  private static func option(_ name: String) -> String {
    switch name {
    case "signerKey": "hash-key"
    case "saltSeparator": "salt-separator"
    case "memoryCost", "cpuMemCost", "argon2Parameters.memoryCostKib": "mem-cost"
    case "argon2Parameters.iterations": "rounds"
    case "argon2Parameters.parallelism": "parallelization"
    case "argon2Parameters.hashLengthBytes", "dkLen": "dk-len"
    case "argon2Parameters.version": "argon2-version"
    case "argon2Parameters.associatedData": "associated-data"
    case "blockSize": "block-size"
    default: name
    }
  }

  private static func number(_ name: String, _ arguments: Arguments) throws(UsageError) -> Int? {
    guard let text = arguments.value(name) else { return nil }
    guard let number = Int(text) else {
      throw UsageError(
        Message(
          "--{name} must be a whole number, not {text}", ["name": .text(name), "text": .text(text)])
      )
    }
    return number
  }

  private static func bytes(
    _ name: String, _ arguments: Arguments
  ) throws(UsageError) -> [UInt8]? {
    guard let text = arguments.value(name) else { return nil }
    guard let bytes = Base64URL.decode(text) else {
      throw UsageError(Message("--{name} must be base64", ["name": .text(name)]))
    }
    return bytes
  }
}
