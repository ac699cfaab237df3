import Foundation
import Testing

@testable import countersign

struct ConfigurationFileTests {
  /// Reads the options of `serve` with a configuration file, whose path becomes `FILE` in problems.
  private func read(
    _ text: String, _ words: [String] = [], environment: [String: String] = [:]
  ) async throws -> (arguments: Arguments, problems: [String]) {
    try await withFolder { folder in
      let path = "\(folder)/countersign.conf"
      try text.write(toFile: path, atomically: false, encoding: .utf8)
      let arguments = try Arguments(
        ["--config", path] + words, options: ServeConfiguration.options,
        environment: environment)
      var problems: [String] = []
      do throws(ConfigurationError) {
        _ = try ServeConfiguration(arguments, environment: environment)
      } catch {
        problems = error.problems.map(OperatorText.string)
      }
      return (arguments, problems.map { $0.replacingOccurrences(of: path, with: "FILE") })
    }
  }

  @Test func `flags override the environment, which overrides the file`() async throws {
    let text = "data = from-file\nlisten = 127.0.0.1:1\naccess-log = none\n"
    let (arguments, problems) = try await read(
      text, ["--data", "from-flag"],
      environment: [
        "COUNTERSIGN_DATA": "from-environment", "COUNTERSIGN_LISTEN": "127.0.0.1:2",
      ])
    #expect(problems == [])
    #expect(arguments.value("data") == "from-flag")
    #expect(arguments.value("listen") == "127.0.0.1:2")
    #expect(arguments.value("access-log") == "none")
  }

  @Test func `the environment can name the file`() async throws {
    try await withFolder { folder in
      let path = "\(folder)/c.conf"
      try "data = here\n".write(toFile: path, atomically: false, encoding: .utf8)
      let arguments = try Arguments(
        [], options: ServeConfiguration.options, environment: ["COUNTERSIGN_CONFIG": path])
      #expect(arguments.value("data") == "here")
    }
  }

  @Test func `every problem is reported with its file and line`() async throws {
    let text = """
      liste = 127.0.0.1:8080
      max-connections = many
      data = a
      data = b
      [server]
      demo = perhaps
      smtp-from =
      config = other.conf
      junk
      """
    let (_, problems) = try await read(text)
    #expect(
      problems == [
        "FILE:1: liste isn't a setting.",
        "FILE:4: data is set twice, first in FILE:3.",
        "FILE:5: The configuration file has no sections. Remove the line.",
        "FILE:6: demo must be yes or no, not perhaps.",
        "FILE:7: smtp-from has no value.",
        "FILE:8: config isn't a setting.",
        "FILE:9: The line isn't a setting (name = value) or a comment.",
        "FILE:2: --max-connections must be a number from 1 to 1000000, not many.",
      ])
  }

  @Test func `a problem of a flag doesn't name the file`() async throws {
    let (_, problems) = try await read("profile = y\n", ["--profile", "x"])
    #expect(problems == ["--profile must be standalone or emulator, not x."])
  }

  @Test func `lists can be repeated or separated by commas`() async throws {
    let (arguments, problems) = try await read(
      "trusted-proxy = 10.0.0.1,10.0.0.2\ntrusted-proxy = ::1\n")
    #expect(problems == [])
    #expect(arguments.all("trusted-proxy").map(\.text) == ["10.0.0.1", "10.0.0.2", "::1"])
  }

  @Test func `an invalid value of a list is reported at its own line`() async throws {
    let (_, problems) = try await read(
      """
      profile = emulator
      trusted-proxy = 10.0.0.1
      emulator-origin = http://localhost
      trusted-proxy = 10.0.0.2, nowhere
      emulator-origin = localhost
      """)
    #expect(problems.map { $0.prefix(7) } == ["FILE:4:", "FILE:5:"])
    let (_, words) = try await read("trusted-proxy = x\n", ["--trusted-proxy", "nowhere"])
    #expect(words.count == 1 && words.allSatisfy { !$0.hasPrefix("FILE") })
  }

  @Test func `a flag can be turned off`() async throws {
    let (arguments, problems) = try await read("demo = no\nskip-upgrade-backup = yes\n")
    #expect(problems == [])
    #expect(arguments.has("demo") == false)
    #expect(arguments.has("skip-upgrade-backup"))
  }

  @Test func `a secret can't be in the file, only in one that it names`() async throws {
    let (_, problems) = try await read("smtp-password = hunter2\nmaster-key = x\n")
    #expect(
      problems == [
        "FILE:1: smtp-password isn't a setting.", "FILE:2: master-key isn't a setting.",
      ])
  }

  @Test func `an empty file sets nothing`() async throws {
    let (_, problems) = try await read("")
    #expect(problems == [])
  }

  @Test func `a large file, a folder, and a missing file are refused`() async throws {
    let (_, problems) = try await read(String(repeating: "; comment\n", count: 7_000))
    #expect(problems == ["FILE is larger than 64 KiB."])
    for (path, reason) in [
      ("/", "it isn't a regular file."), ("/nowhere.conf", "No such file or directory"),
      ("/dev/zero", "it isn't a regular file."),
    ] {
      let file = ConfigurationFile(path: path, options: ServeConfiguration.options)
      #expect(
        file.error?.problems.map(OperatorText.string) == ["\(path) can't be read: \(reason)"])
    }
  }

  @Test func `check-config exits with 0 or 78`() async throws {
    try await withFolder { folder in
      let path = "\(folder)/c.conf"
      try "profile = emulator\nassets = \(packageFolder)\n".write(
        toFile: path, atomically: false, encoding: .utf8)
      #expect(await Countersign.run(["check-config", "--config", path], environment: [:]) == 0)
      try "tls-key = /nowhere\n".write(toFile: path, atomically: false, encoding: .utf8)
      #expect(await Countersign.run(["check-config", "--config", path], environment: [:]) == 78)
    }
  }

  @Test func `files that options name are checked too`() async throws {
    try await withFolder { folder in
      try "no certificate".write(
        toFile: "\(folder)/cert.pem", atomically: false, encoding: .utf8)
      let arguments = try Arguments(
        [
          "--data", "\(folder)/none", "--tls-certificate", "\(folder)/cert.pem", "--tls-key",
          "\(folder)/key.pem", "--policy-file", "\(folder)/policies.json", "--access-log",
          "\(folder)/logs/access.log",
        ], options: ServeConfiguration.options)
      let problems = ConfiguredFiles(arguments).problems.map(OperatorText.string)
      #expect(problems.count == 5)
    }
  }

  @Test func `a folder in place of a file is refused`() async throws {
    try await withFolder { folder in
      for name in ["access-log", "audit-file", "policy-file"] {
        let arguments = try Arguments(
          ["--\(name)", folder], options: ServeConfiguration.options)
        #expect(ConfiguredFiles(arguments, withData: false).problems.count == 1, "\(name)")
      }
      #expect(throws: ConfigurationError.self) {
        try AuditFileOutput(folder, in: DataFolder(path: folder))
      }
      do {
        _ = try PolicyFileReader.read(folder)
      } catch {
        #expect("\(error)" == "\(folder) can't be read: Is a directory")
      }
    }
  }

  @Test func `the documentation has a row for every option of serve`() throws {
    let text = try String(
      contentsOfFile: "\(packageFolder)/docs/configuration.md", encoding: .utf8)
    let missing = ServeConfiguration.options.filter { option in
      let placeholder = option.placeholder.map { " \($0)" } ?? ""
      return !text.contains("\n| `--\(option.name)\(placeholder)` |")
    }
    #expect(missing.map(\.name) == [])
  }
}
