import Crypto
import Foundation
import Host
import Identity
import Testing

@testable import countersign

struct DoctorTests {
  private static let synchronized = KernelClock(
    isSynchronized: true, offset: 0, maximumError: 1_500)

  /// Runs the doctor on a new instance after a change to its folder, and returns the findings of one
  /// check.
  private func findings(
    _ check: Finding.Check, _ words: [String] = [], clock: KernelClock? = synchronized,
    openFiles: Int = 1 << 20, now: Instant? = nil, change: (DataFolder) throws -> Void = { _ in }
  ) async throws -> [Finding] {
    try await withFolder { parent in
      let folder = DataFolder(path: "\(parent)/data")
      try #require(
        await Countersign.run(["init", "--data", folder.path], environment: [:]) == 0)
      try change(folder)
      var doctor = Doctor(
        arguments: try Arguments(
          ["--data", folder.path] + words, options: DoctorCommand.options),
        environment: [:])
      doctor.clock = { clock }
      doctor.openFiles = { OpenFileLimit(soft: openFiles, hard: openFiles) }
      if let now { doctor.now = { now } }
      return await doctor.findings().filter { $0.check == check }
    }
  }

  private func severities(_ findings: [Finding]) -> [Finding.Severity] { findings.map(\.severity) }

  private func text(_ findings: [Finding]) -> String {
    findings.map { OperatorText.string($0.message) }.joined(separator: "\n")
  }

  @Test func `a new instance has no errors`() async throws {
    for check in [.configuration, .permissions, .keys, .schema, .integrity] as [Finding.Check] {
      let found = try await findings(check)
      #expect(!found.isEmpty && severities(found).allSatisfy { $0 == .ok })
    }
  }

  @Test func `V10: a clock that isn't synchronized is a warning`() async throws {
    let off = KernelClock(isSynchronized: false, offset: 0, maximumError: 16_000_000)
    let found = try await findings(.clock, clock: off)
    let unknown = try await findings(.clock, clock: nil)
    let fine = try await findings(.clock)
    #expect(severities(found) == [.warning])
    #expect(severities(unknown) == [.warning])
    #expect(text(fine) == "The clock is synchronized (maximum error 2 ms).")
    #expect(found[0].advice != nil)
  }

  @Test func `a clock behind the newest stored time is an error`() async throws {
    let found = try await findings(.clock, now: Instant(microseconds: 0))
    #expect(severities(found) == [.ok, .error])
  }

  @Test func `files that others can read are errors`() async throws {
    let found = try await findings(.permissions) { folder in
      for path in [folder.path, folder.database] {
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o755], ofItemAtPath: path)
      }
    }
    #expect(severities(found) == [.error, .error])
    let advice = try #require(found.last?.advice)
    #expect(OperatorText.string(advice).hasPrefix("Run chmod 600 /"))
  }

  @Test func `a missing and a wrong master key are errors`() async throws {
    let missing = try await findings(.keys) { folder in
      try FileManager.default.removeItem(atPath: folder.key)
    }
    let wrong = try await findings(.keys) { folder in
      try FileManager.default.removeItem(atPath: folder.key)
      try folder.store(KeyRing(random: .system))
    }
    guard case .keyMissing = missing.first, case .keyWrong = wrong.first else {
      Issue.record("\(text(missing)) \(text(wrong))")
      return
    }
  }

  @Test func `an empty folder is an error`() async throws {
    let found = try await findings(.permissions) { folder in
      try FileManager.default.removeItem(atPath: folder.database)
    }
    #expect(severities(found).max() == .error)
  }

  @Test func `few open files are a warning`() async throws {
    let found = try await findings(.openFiles, openFiles: 1_024)
    let few = try await findings(.openFiles, ["--max-connections", "10"], openFiles: 1_034)
    #expect(severities(found) == [.warning])
    #expect(severities(few) == [.ok])
  }

  @Test func `an invalid configuration is an error with every problem`() async throws {
    let found = try await findings(.configuration, ["--profile", "x", "--tls-key", "k"])
    #expect(severities(found) == [.error])
    #expect(text(found).contains("--profile") && text(found).contains("--tls-key"))
  }

  @Test func `an unreadable certificate is an error`() async throws {
    let words = ["--tls-certificate", "/nowhere.pem", "--tls-key", "/nowhere.key"]
    let found = try await findings(.certificate, words)
    #expect(severities(found) == [.error])
  }

  @Test func `the exit code is that of the worst finding`() async throws {
    try await withFolder { folder in
      let words = ["doctor", "--data", "\(folder)/none"]
      #expect(await Countersign.run(words, environment: [:]) == 2)
      #expect(await Countersign.run(words + ["--json"], environment: [:]) == 2)
    }
  }
}
