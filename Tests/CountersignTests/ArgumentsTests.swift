import Foundation
import Localization
import Testing

@testable import countersign

@Suite struct ArgumentsTests {
  static let options = [
    Option("data", "DIR", help: .verbatim(".")), Option("fast", help: .verbatim(".")),
    Option("email", "E", variable: false, help: .verbatim(".")),
  ]

  func read(_ words: String..., environment: [String: String] = [:]) throws -> Arguments {
    try Arguments(words, options: Self.options, environment: environment)
  }

  @Test func `values follow a space or an equals sign, and the last one wins`() throws {
    let arguments = try read("--data", "a", "--data=b", "file", "--fast")
    #expect(arguments.value("data") == "b")
    #expect(arguments.all("data").map(\.text) == ["a", "b"])
    #expect(arguments.has("fast"))
    #expect(arguments.operands == ["file"])
  }

  @Test func `environment variables apply to options that aren't given`() throws {
    let environment = [
      "COUNTERSIGN_DATA": "env", "COUNTERSIGN_FAST": "yes", "COUNTERSIGN_EMAIL": "never",
    ]
    #expect(try read(environment: environment).value("data") == "env")
    #expect(try read("--data", "said", environment: environment).value("data") == "said")
    #expect(try read(environment: environment).has("fast"))
    #expect(try read(environment: ["COUNTERSIGN_FAST": "0"]).has("fast") == false)
    #expect(try read(environment: environment).value("email") == nil)
  }

  @Test func `everything after two hyphens is an operand`() throws {
    #expect(try read("a", "--", "--fast", "--").operands == ["a", "--fast", "--"])
  }

  @Test func `an environment variable turns off what the configuration file turns on`() throws {
    try withConfiguration("demo = yes\n") { path in
      let options = ServeConfiguration.options
      let off = try Arguments(
        ["--config", path], options: options, environment: ["COUNTERSIGN_DEMO": "no"])
      #expect(!off.has("demo"))
      #expect(try Arguments(["--config", path], options: options).has("demo"))
    }
    let error = #expect(throws: UsageError.self) {
      try read(environment: ["COUNTERSIGN_FAST": "maybe"])
    }
    #expect(
      error.map { OperatorText.string($0.message) }
        == "COUNTERSIGN_FAST must be yes or no, not maybe")
  }

  private func withConfiguration(_ text: String, _ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }

  @Test func `a reason has no control characters, and an empty one is none`() throws {
    let options = [Option("reason", "TEXT", help: .verbatim("."))]
    func reason(_ text: String) throws -> String? {
      try Arguments(["--reason", text], options: options).reason()
    }
    #expect(try reason(" asked by mail ") == "asked by mail")
    #expect(try reason(" ") == nil)
    #expect(throws: UsageError.self) { try reason("a\u{1B}[2J") }
    #expect(throws: UsageError.self) { try reason(String(repeating: "a", count: 1_001)) }
  }

  @Test(arguments: [
    ["--wrong"], ["-d"], ["--data"], ["--fast=1"], ["--data", "--fast"], ["--data", "--"],
    ["--email", "--help"], ["--data", ""], ["--data="],
  ])
  func `invalid usage is rejected`(words: [String]) {
    #expect(throws: UsageError.self) { try Arguments(words, options: Self.options) }
  }

  @Test func `a value that begins with two hyphens follows an equals sign`() throws {
    #expect(try read("--data=--fast").value("data") == "--fast")
    #expect(try read("--data", "-").value("data") == "-")
    #expect(try read("--data", "-h").value("data") == "-h")
  }

  @Test(arguments: [
    (["--help"], true), (["-h"], true), (["file", "--fast", "--help"], true),
    (["--data", "d", "-h"], true), (["--data=d", "--help"], true), (["--data", "--help"], false),
    (["--data", "-h"], false), (["--", "--help"], false), ([], false),
  ])
  func `help is an option, not a value or an operand`(words: [String], isHelp: Bool) {
    #expect(Arguments.askForHelp(words, options: Self.options) == isHelp)
  }

  @Test func `an empty path or operand is a missing one`() throws {
    #expect(try read("--email", "").value("email") == "")
    #expect(throws: UsageError.self) { try read("").operand(.verbatim("a file")) }
    #expect(try read("f").operand(.verbatim("a file")) == "f")
  }

  @Test func `a missing value isn't taken for a request for help`() async {
    let words = ["admin", "create", "--name", "--help"]
    #expect(await Countersign.run(words, environment: [:]) == 64)
  }

  @Test func `exit codes distinguish invalid usage from invalid configuration`() async {
    #expect(await Countersign.run(["nonsense"], environment: [:]) == 64)
    #expect(await Countersign.run([], environment: [:]) == 64)
    #expect(await Countersign.run(["serve", "--wrong"], environment: [:]) == 64)
    #expect(await Countersign.run(["serve", "--profile", "x"], environment: [:]) == 78)
    #expect(await Countersign.run(["backup", "--data", "/nowhere", "f"], environment: [:]) == 78)
    #expect(await Countersign.run(["policy", "diff", "f"], environment: [:]) == 64)
    for option in ["--check", "--keep=3"] {
      let words = ["backup", "--data", "/nowhere", option, "-"]
      #expect(await Countersign.run(words, environment: [:]) == 64)
    }
    // As bytes that aren't UTF-8 arrive.
    let name = "b\u{FFFD}"
    #expect(await Countersign.run(["backup", "--data", "/nowhere", name], environment: [:]) == 64)
    #expect(await Countersign.run(["--version"], environment: [:]) == 0)
  }

  @Test func `commands are found by their former name, which isn't listed`() async {
    for name in ["token-key", "signer"] {
      #expect(await Countersign.run([name, "add", "--help"], environment: [:]) == 0)
      #expect(await Countersign.run(["help", name, "revoke"], environment: [:]) == 0)
      #expect(await Countersign.run([name], environment: [:]) == 64)
    }
    #expect(!Countersign.commands.contains { $0.name.hasPrefix("signer") })
  }

  @Test func `every command has help`() async {
    for command in Countersign.commands {
      let words = command.name.split(separator: " ").map(String.init) + ["--help"]
      #expect(await Countersign.run(words, environment: [:]) == 0)
    }
  }
}

@Suite struct ServeConfigurationTests {
  func problems(_ words: String...) -> [String] { problems(words) }

  @Test func `listening on loopback requires no options`() {
    #expect(problems().isEmpty)
    #expect(problems("--listen", "[::1]:0").isEmpty)
    #expect(problems("--listen", "localhost:8080", "--profile", "emulator").isEmpty)
  }

  @Test func `listening beyond loopback requires a public URL and a secure connection`() {
    #expect(problems("--listen", "0.0.0.0:80").count == 2)
    #expect(problems("--listen", "0.0.0.0:80", "--public-url", "https://a.example").count == 1)
    #expect(
      problems(
        "--listen", "0.0.0.0:80", "--public-url", "https://a.example", "--trusted-proxy",
        "10.0.0.1"
      ).isEmpty)
  }

  @Test func `the emulator stays on loopback unless allowed to go beyond`() {
    let words = [
      "--listen", "0.0.0.0:80", "--public-url", "http://a.example", "--trusted-proxy=::1",
    ]
    #expect(problems(words + ["--profile", "emulator"]).count == 1)
    #expect(problems(words + ["--profile", "emulator", "--emulator-beyond-loopback"]).isEmpty)
  }

  @Test func `all problems are reported at once`() {
    let found = problems(
      "--listen", "here", "--profile", "x", "--assets", "/nowhere", "--tls-key", "k")
    #expect(found.count == 4)
  }

  @Test func `a database on a server needs an address without a password`() {
    let address = "postgresql://countersign@db.example/main"
    #expect(problems(["--database", address]) == [])
    #expect(problems(["--database", address, "--database-password-file", "f"]) == [])
    let found = problems(["--database", "postgresql://countersign:secret@db.example/main"])
    #expect(found.count == 1)
    #expect(found.allSatisfy { $0.contains("--database-password-file") && !$0.contains("secret") })
    #expect(problems(["--database", "mysql://db/main"]).count == 1)
    #expect(problems(["--database", "\(address)?sslmode=prefer"]).count == 1)
    #expect(problems(["--database-password-file", "f"]).count == 1)
  }

  @Test(arguments: ["backup", "restore"])
  func `copies of the file are refused for a database on a server`(command: String) throws {
    let options = [DatabaseLocation.url, DatabaseLocation.passwordFile]
    let arguments = try Arguments(["--database", "postgresql://h/x"], options: options)
    #expect(throws: ConfigurationError.self) {
      try DatabaseLocation.mustBeFile(arguments, command: command)
    }
    #expect(try DatabaseLocation(Arguments([], options: options)) == .file)
  }

  private func problems(_ words: [String]) -> [String] {
    do {
      _ = try ServeConfiguration(Arguments(words, options: ServeConfiguration.options))
      return []
    } catch let error as ConfigurationError {
      return error.problems.map(OperatorText.string)
    } catch {
      return ["\(error)"]
    }
  }
}
