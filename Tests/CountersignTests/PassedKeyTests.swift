import Crypto
import Foundation
import Localization
import Testing

@testable import countersign

@Suite struct PassedKeyTests {
  /// Runs a test with a folder of credentials that contains a master key.
  private func withCredentials(_ body: (String, KeyRing) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let ring = KeyRing(random: .system)
    try ring.text.revealedText.write(
      toFile: "\(path)/master-key", atomically: false, encoding: .utf8)
    try body(path, ring)
  }

  @Test func `the credential of the unit is the master key`() throws {
    try withCredentials { path, ring in
      let environment = ["CREDENTIALS_DIRECTORY": path]
      let passed = try #require(PassedKey(environment: environment))
      #expect(passed.source == "\(path)/master-key")
      let ids = try passed.ring().ids
      #expect(ids == ring.ids)
      let used = try DataFolder(path: "/nowhere").masterKey(environment: environment)
      #expect(used.ids == ring.ids)
    }
  }

  @Test func `a byte order mark isn't part of a secret or a policy that's read from a file`()
    async throws
  {
    try await withFolder { folder in
      func write(_ name: String, _ text: String) throws -> String {
        let path = "\(folder)/\(name)"
        try Data("\u{FEFF}\(text)".utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        return path
      }
      let ring = KeyRing(random: .system)
      for name in ["master-key", "master.key"] { _ = try write(name, ring.text.revealedText) }
      let passed = try #require(PassedKey(environment: ["CREDENTIALS_DIRECTORY": folder]))
      #expect(try passed.ring().ids == ring.ids)
      #expect(try DataFolder(path: folder).keptKeys()?.ids == ring.ids)
      let option = Option("secret-file", "FILE", help: .verbatim("."))
      let arguments = try Arguments(
        ["--secret-file", try write("secret", "hunter2\n")], options: [option])
      var problems = ConfigurationProblems(arguments)
      let secret = SecretFile(option: "secret-file", variable: "SECRET").read(
        arguments, [:], &problems)
      #expect(secret?.revealedText == "hunter2")
      let policies = try write("policies.json", #"{"format": "countersign-policy/1", "pools": []}"#)
      #expect(throws: Never.self) { try PolicyFileReader.read(policies) }
    }
  }

  @Test func `the variable takes precedence over the credential`() throws {
    try withCredentials { path, _ in
      let other = KeyRing(random: .system)
      let environment = [
        "CREDENTIALS_DIRECTORY": path, "COUNTERSIGN_MASTER_KEY": other.text.revealedText,
      ]
      let passed = try #require(PassedKey(environment: environment))
      let ids = try passed.ring().ids
      #expect(ids == other.ids)
    }
  }

  @Test func `without the credential, the key is in the data folder`() {
    #expect(PassedKey(environment: [:]) == nil)
    #expect(PassedKey(environment: ["CREDENTIALS_DIRECTORY": "/nowhere"]) == nil)
  }

  @Test func `a credential that can't be read isn't replaced with another key`() throws {
    try withCredentials { path, _ in
      try FileManager.default.removeItem(atPath: "\(path)/master-key")
      try FileManager.default.createDirectory(
        atPath: "\(path)/master-key", withIntermediateDirectories: false)
      let passed = try #require(PassedKey(environment: ["CREDENTIALS_DIRECTORY": path]))
      let error = #expect(throws: ConfigurationError.self) { try passed.ring() }
      #expect(
        error.map { "\($0)" } == "\(path)/master-key can't be read: Is a directory")
    }
  }

  @Test func `a credential that isn't a key is refused`() {
    let passed = PassedKey(environment: ["COUNTERSIGN_MASTER_KEY": "secret"])
    #expect(throws: ConfigurationError.self) { try passed?.ring() }
  }
}
