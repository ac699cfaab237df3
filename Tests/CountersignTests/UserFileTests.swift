import Crypto
import Foundation
import Identity
import IdentityToolkitAPI
import Testing
import Text

@testable import countersign

@Suite struct CSVReaderTests {
  private func read(_ text: String, by size: Int) throws -> [[String]] {
    var reader = CSVReader()
    let bytes = Array(text.utf8)
    var records: [CSVReader.Record] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      let part = Array(bytes[start..<min(start + size, bytes.count)])
      try reader.take(part, isLast: false, into: &records)
    }
    try reader.take([], isLast: true, into: &records)
    return records.map { record in
      switch record.fields {
      case .success(let fields): fields.map(\.text)
      case .failure(let fault): ["line \(record.line)", "\(fault)"]
      }
    }
  }

  @Test func `fields are separated by commas and may be quoted`() throws {
    let text = "\u{FEFF}a,b,\r\n\"x,\"\"y\"\"\nz\",,é\n\nlast,,"
    for size in [4, 5, 1_000] {
      #expect(
        try read(text, by: size) == [["a", "b", ""], ["x,\"y\"\nz", "", "é"], ["last", "", ""]])
    }
  }

  @Test func `a record that isn't UTF-8 has no fields`() throws {
    var reader = CSVReader()
    var records: [CSVReader.Record] = []
    try reader.take(
      Array("a,Ren".utf8) + [0xE9] + Array("e\nb,c\n".utf8), isLast: true, into: &records)
    #expect(records.map { (try? $0.fields.get()) == nil } == [true, false])
  }

  @Test func `a record with a misplaced quotation mark is an error, and the next is read`() throws {
    #expect(
      try read("a,b\n\"c\"d,e\nf,g\n\"h,i\nj,k", by: 1_000) == [
        ["a", "b"], ["line 2", "syntax(Text.CSVFault.Kind.textAfterQuote)"], ["f", "g"],
        ["line 4", "syntax(Text.CSVFault.Kind.unclosedQuote)"], ["j", "k"],
      ])
  }

  /// A line feed in each field but the first and the last tears a user into two records, none of
  /// which is a user.
  @Test func `a record that doesn't have the file's number of fields is an error`() throws {
    let user = "u1,u1@example.com,false,,,Ann Lee,,true"
    let other = "u2,u2@example.com,true,,,Bo,,true"
    let isKept = [user, other].map { $0.components(separatedBy: ",") }
    #expect(try read("\(user)\n\(other)", by: 1_000) == isKept)
    let commas = user.indices.filter { user[$0] == "," }
    let (first, last) = (try #require(commas.first), try #require(commas.last))
    for cut in user.indices where cut > first && cut <= last {
      let torn = "\(user[..<cut])\n\(user[cut...])"
      for text in [
        "\(torn)\n\(other)\n\(other)\n\(other)", "\(other)\n\(other)\n\(other)\n\(torn)",
      ] {
        let read = try read(text, by: 1_000)
        #expect(read.filter { $0 == isKept[1] }.count == 3 && read.count == 5)
        #expect(read.filter { $0[0].hasPrefix("line ") }.count == 2)
      }
      // In a small file, all numbers of fields may be equally frequent.
      for text in ["\(torn)\n\(other)", "\(other)\n\(torn)", "\(torn)\n\(other)\n\(torn)"] {
        let read = try read(text, by: 1_000)
        let lines = text.components(separatedBy: "\n").count
        #expect(read.filter { $0 == isKept[1] }.count == 1 && read.count == lines)
        #expect(read.filter { $0[0].hasPrefix("line ") }.count == lines - 1)
      }
      // Without a whole record, the file's number of fields isn't known.
      #expect(throws: UserFileError.self) { try self.read(torn, by: 1_000) }
    }
  }

  @Test func `a record has its line number`() throws {
    var reader = CSVReader()
    var records: [CSVReader.Record] = []
    try reader.take(Array("a\n\"b\nc\"\nd\n".utf8), isLast: true, into: &records)
    #expect(records.map(\.line) == [1, 2, 4])
  }
}

@Suite struct UserFileReaderTests {
  /// Reads all rows of a file with an extension.
  private func read(_ bytes: [UInt8], _ kind: String) async throws -> [FileRow] {
    try await withFolder { folder in
      let path = folder + "/users." + kind
      try Data(bytes).write(to: URL(filePath: path))
      let file = try UserFile(
        hashes: try HashOptions.parameters(Arguments([], options: HashOptions.all)),
        profile: .standalone)
      var reader = try UserFileReader(
        path: path, format: try UserFileReader.Format(path: path, option: nil), file: file)
      return try reader.next(100)
    }
  }

  private func text(_ row: FileRow) -> String {
    switch row.row {
    case .success(let user): "\(user.localID) \(user.emailVerified) \(user.disabled)"
    case .failure(.unreadable(let text)): text
    case .failure(let fault): "\(fault)"
    }
  }

  @Test(arguments: [
    "s1;s1@example.com;true\ns2;s2@example.com;true", "\u{FEFF}s1;s1@example.com;Doe, Jane;x",
    "UID;Email;Email Verified\nu1;u1@example.com;true", "\ns1;s1@example.com;Rene\u{301}\n",
  ])
  func `a file with semicolons is refused before any user of it`(text: String) async {
    await #expect(throws: UserFileError.self) { try await read(Array(text.utf8), "csv") }
    let latin = Array("s1;s1@example.com;Ren".utf8) + [0xE9]
    await #expect(throws: UserFileError.self) { try await read(latin, "csv") }
  }

  @Test func `semicolons in other fields and rows are text`() async throws {
    let rows = try await read(Array("u1,u1@example.com,true,,,a;b\nu;2,,,,,".utf8), "csv")
    #expect(rows.map(text) == ["u1 true false", "u;2 false false"])
  }

  @Test func `a flag is true, false, or missing; anything else is rejected with its column`()
    async throws
  {
    let flags = ["true", "TRUE", "false", "", "yes", "1"]
    let lines =
      flags.map { "u,u@example.com,\($0)" + String(repeating: ",", count: 24) }
      + ["u" + String(repeating: ",", count: 26) + "on"]
    let rows = try await read(Array(lines.joined(separator: "\n").utf8), "csv")
    let refused = "The field emailVerified in column 3 is neither true nor false."
    #expect(
      rows.map(text) == [
        "u true false", "u true false", "u false false", "u false false", refused, refused,
        "The field disabled in column 27 is neither true nor false.",
      ])
    #expect(rows.map(\.line) == Array(1...7))
  }

  @Test(arguments: ["[]", " \n[{\"localId\":\"j8\"}]", "\u{FEFF}[", "{}"])
  func `a document without a list of users is refused by its name`(text: String) async throws {
    let error = try await #require(throws: UserFileError.self) {
      try await read(Array(text.utf8), "json")
    }
    #expect(
      OperatorText.string(error.message) == #"The JSON document has no "users" array."#)
  }

  @Test func `a byte order mark before JSON is skipped`() async throws {
    let rows = try await read(Array("\u{FEFF}{\"users\":[{\"localId\":\"j8\"}]}".utf8), "json")
    #expect(rows.map(text) == ["j8 false false"])
  }
}

@Suite struct HashOptionsTests {
  private func parameters(_ words: String...) throws -> HashParameters {
    try HashOptions.parameters(Arguments(words, options: HashOptions.all))
  }

  @Test func `the options match those of the Firebase CLI`() throws {
    let scrypt = try parameters(
      "--hash-algo=scrypt", "--hash-key=a2V5", "--salt-separator=Bw==", "--rounds=8",
      "--mem-cost=14")
    #expect(
      try PasswordAlgorithm(scrypt)
        == .firebaseScrypt(
          signerKey: Array("key".utf8), saltSeparator: [7], rounds: 8, memoryCost: 14))
    let standard = try parameters(
      "--hash-algo", "STANDARD_SCRYPT", "--mem-cost", "1024", "--parallelization", "16",
      "--block-size", "8", "--dk-len", "64")
    #expect(
      try PasswordAlgorithm(standard) == .scrypt(cost: 1_024, blockSize: 8, parallelization: 16))
    let hmac = try parameters(
      "--hash-algo=HMAC_SHA256", "--hash-key=a2V5", "--hash-input-order=SALT_FIRST")
    #expect(
      try PasswordAlgorithm(hmac) == .hmac(.sha256, key: Array("key".utf8), order: .saltFirst))
    let argon2 = try parameters(
      "--hash-algo=ARGON2", "--mem-cost=19456", "--rounds=2", "--argon2-type=argon2i",
      "--argon2-version=16")
    #expect(
      try PasswordAlgorithm(argon2)
        == .argon2(Argon2(kind: .i, version: 16, memory: 19_456, passes: 2, lanes: 1)))
    #expect(try PasswordAlgorithm(parameters()) == .selfDescribing)
  }

  @Test(arguments: [
    ["--rounds", "many"], ["--hash-key", "!"], ["--hash-input-order", "MIXED"],
    ["--hash-algo", "ARGON2", "--argon2-type", "argon3"],
  ])
  func `an invalid value is a usage error`(words: [String]) {
    #expect(throws: UsageError.self) {
      try HashOptions.parameters(Arguments(words, options: HashOptions.all))
    }
  }

  private func text(_ error: HashParameterError) -> String {
    OperatorText.string(HashOptions.sentence(error))
  }

  @Test func `an error names the option`() {
    #expect(text(.missing("signerKey")) == "the hash algorithm requires --hash-key")
    #expect(text(.outOfRange("rounds", 1...8)) == "--rounds must be between 1 and 8")
  }
}
