import Foundation
import HTTP
import JSON
import Testing

/// Every word of the error table of the Identity Toolkit as the clients know it.
private let table: Set = [
  "INVALID_CODE", "INVALID_SESSION_INFO", "MISSING_SESSION_INFO", "MISSING_CODE",
  "SESSION_EXPIRED", "INVALID_MFA_PENDING_CREDENTIAL", "MISSING_MFA_PENDING_CREDENTIAL",
  "INVALID_PENDING_TOKEN", "MFA_ENROLLMENT_NOT_FOUND", "MISSING_MFA_ENROLLMENT_ID",
  "INVALID_MFA_ENROLLMENT_ID", "SECOND_FACTOR_EXISTS", "SECOND_FACTOR_LIMIT_EXCEEDED",
  "UNSUPPORTED_FIRST_FACTOR", "UNSUPPORTED_SECOND_FACTOR", "UNVERIFIED_EMAIL",
  "CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "INVALID_DURATION", "FEDERATED_USER_ID_ALREADY_LINKED",
  "CLAIMS_TOO_LARGE", "INVALID_CLAIMS", "FORBIDDEN_CLAIM", "TOTP_CHALLENGE_TIMEOUT",
  "TOO_MANY_ENROLLMENT_ATTEMPTS", "MFA_ENROLLMENT_ALREADY_COMPLETE", "MISSING_DISPLAY_NAME",
  "QUOTA_EXCEEDED", "OPERATION_NOT_ALLOWED", "PASSWORD_LOGIN_DISABLED", "ADMIN_ONLY_OPERATION",
  "TOKEN_EXPIRED", "USER_NOT_FOUND", "INVALID_ID_TOKEN", "USER_DISABLED", "EMAIL_NOT_FOUND",
  "INVALID_PASSWORD", "INVALID_LOGIN_CREDENTIALS", "INVALID_TEMPORARY_PROOF",
  "INVALID_IDENTIFIER", "INVALID_EMAIL", "MISSING_EMAIL", "MISSING_CUSTOM_TOKEN",
  "MISSING_REQ_TYPE", "MISSING_OOB_CODE", "MISSING_CONTINUE_URI",
  "BLOCKING_FUNCTION_ERROR_RESPONSE", "INVALID_IDP_RESPONSE", "EMAIL_EXISTS", "DUPLICATE_EMAIL",
  "DUPLICATE_LOCAL_ID", "DUPLICATE_MFA_ENROLLMENT_ID", "PHONE_NUMBER_EXISTS",
  "INVALID_PHONE_NUMBER", "WEAK_PASSWORD", "PASSWORD_DOES_NOT_MEET_REQUIREMENTS",
  "MISSING_PASSWORD", "EXPIRED_OOB_CODE", "INVALID_OOB_CODE", "EMAIL_CHANGE_NEEDS_VERIFICATION",
  "UNAUTHORIZED_DOMAIN", "TOO_MANY_ATTEMPTS_TRY_LATER", "RESET_PASSWORD_EXCEED_LIMIT",
  "TENANT_ID_MISMATCH", "INVALID_TENANT_ID", "TENANT_NOT_FOUND", "UNSUPPORTED_TENANT_OPERATION",
  "INVALID_PROJECT_ID", "PROJECT_NOT_FOUND", "CONFIGURATION_NOT_FOUND", "INVALID_PAGE_SELECTION",
  "INVALID_CONFIG", "INVALID_NAME", "INVALID_DISPLAY_NAME", "INVALID_TENANT_TYPE",
  "PERMISSION_DENIED", "INSUFFICIENT_PERMISSION", "MISSING_LOCAL_ID", "MISSING_USER_ACCOUNT",
  "PROJECT_DISABLED", "INVALID_REFRESH_TOKEN", "MISSING_REFRESH_TOKEN", "INVALID_GRANT_TYPE",
  "INVALID_AUTHORIZED_DOMAIN", "INVALID_REGION_CODE", "INVALID_HOSTING_LINK_DOMAIN",
  "TENANT_DISABLED", "INVALID_CUSTOM_TOKEN", "CREDENTIAL_MISMATCH", "UNAUTHENTICATED",
  "NOT_IMPLEMENTED",
]

extension ErrorRow {
  static let all = [enrollment, secondFactor, phoneFactor, account, tokens, codes, scope]
    .flatMap(\.self)
}

extension UnsentRow {
  static let all = [
    UnsentRow(
      "MISSING_MFA_PENDING_CREDENTIAL",
      "production answers `Request contains an invalid argument.`, and so do we"),
    UnsentRow(
      "MISSING_MFA_ENROLLMENT_ID",
      "production answers `Request contains an invalid argument.`, and so do we"),
    UnsentRow("BLOCKING_FUNCTION_ERROR_RESPONSE", "there are no blocking functions"),
    UnsentRow("INVALID_NAME", "names of resources are made here, not sent"),
    UnsentRow("INVALID_TENANT_TYPE", "tenants have no type any more"),
    UnsentRow(
      "PROJECT_NOT_FOUND",
      "keys and tokens end with their project, so a request fails by them before; the emulator "
        + "makes the project"),
  ]
}

struct ErrorRowTests {
  @Test(arguments: ErrorRow.all)
  func `a request is refused with the word`(_ row: ErrorRow) async throws {
    try await TestServer.with(row.profile) { server in
      let answer = try await row.provoke(server)
      let error = try #require(answer["error"], "\(answer.json)")
      #expect(answer.status == row.status, "\(answer.json)")
      #expect(error["code"] == .number(JSON.Number(row.status)))
      let message = try #require(error["message"]?.stringValue)
      let parts = message.split(separator: " : ", omittingEmptySubsequences: false)
      #expect(parts[0] == row.word || error["status"]?.stringValue == row.word, "\(message)")
      // Clients take the message apart at the colon, and lose what follows a second one.
      #expect(parts.count <= 2, "\(message)")
      #expect(error["errors"] != nil || error["status"] != nil)
    }
  }

  @Test func `each word of the table is provoked, or it is said why not`() {
    let provoked = Set(ErrorRow.all.map(\.word))
    let unsent = Set(UnsentRow.all.map(\.word))
    #expect(provoked.count == ErrorRow.all.count, "a word is provoked twice")
    #expect(provoked.isDisjoint(with: unsent))
    #expect(provoked.union(unsent) == table, "\(provoked.union(unsent).symmetricDifference(table))")
    #expect(UnsentRow.all.allSatisfy { !$0.reason.isEmpty })
  }

  @Test func `no word that cannot be provoked is in the code that answers`() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../Sources/IdentityToolkitAPI")
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    let unsent = UnsentRow.all.map(\.word).filter { $0 != "PROJECT_NOT_FOUND" }
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for word in unsent {
        #expect(!text.contains("\"\(word)"), "\(word) in \(file.lastPathComponent)")
      }
    }
  }
}
