import Foundation
import Testing

@testable import countersign

/// What `countersign doctor` says to do.
struct DoctorAdviceTests {
  private func advice(_ finding: Finding) throws -> String {
    OperatorText.string(try #require(finding.advice))
  }

  @Test func `commands in the advice have the data folder that they require`() throws {
    let check = try advice(.unverifiedBackups(["monday"], data: "/srv/data"))
    #expect(check.contains("countersign backup --check FILE --data /srv/data,"))
    let migrate = try advice(.schemaPending(["one"], data: "/srv/data"))
    #expect(migrate.contains("countersign migrate --dry-run --data /srv/data."))
  }

  @Test func `a changed default of the sign-in provider is a warning that an owner can end`() throws
  {
    #expect(Finding.mfaValuesReplaced.severity == .warning)
    #expect(
      OperatorText.string(Finding.mfaValuesReplaced.message).contains("otp or hwk alone"))
    #expect(try advice(.mfaValuesReplaced).contains("Saving that page ends this warning."))
  }

  @Test func `files of interrupted commands are found once if the backups are in the data folder`()
    async throws
  {
    try await withFolder { folder in
      try Data().write(to: URL(filePath: "\(folder)/users.json.partial"))
      #expect(
        InterruptedFiles.files(in: [folder, "\(folder)/"]) == ["\(folder)/users.json.partial"])
    }
  }

  @Test func `a master key that isn't in the folder can be passed`() throws {
    for finding in [Finding.keyMissing, .keyWrong] {
      #expect(try advice(finding).contains("pass the credential in COUNTERSIGN_MASTER_KEY"))
    }
    #expect(try advice(.keyWrong).contains("Don't stop a running server"))
  }
}
