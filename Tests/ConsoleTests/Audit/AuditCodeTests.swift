import Identity
import Localization
import Testing

@testable import Console

/// Tests that entries show texts instead of the codes that they contain.
@Suite struct AuditCodeTests {
  private static let states = ["disabled", "enabled", "mandatory", "unspecified"]

  /// The codes that entries have, by field.
  private static let written: [(field: AuditFieldName, codes: [String])] = [
    (.totp, states), (.mfaState, states), (.adjacentIntervals, ["default", "unsaid"]),
    (.auditRetention, ["forever"]), (.origin, ["import"]), (.signUpMethod, ["custom"]),
    (.pattern, EnrollmentPattern.allCases.map(\.rawValue)),
    (.enforcement, Enforcement.Mode.allCases.map(\.rawValue)),
    (.role, ServiceTokenRole.allCases.map(\.rawValue)),
    (.outcome, ApprovalObstacle.allCases.map(\.rawValue)),
    (.approvalCause, ["last-factor", "many", "hour", "unverified-caller", "weaker-policy"]),
    (.callerVerification, CallerProof.allCases.map(\.rawValue)),
    (.callerVerificationRule, CallerVerification.allCases.map(\.rawValue)),
    (.importPart, ImportPart.allCases.map(\.rawValue)),
    (.theme, Preferences.Theme.allCases.map(\.rawValue)),
    (.secretKind, UnreadableSecrets.Group.Kind.allCases.map(\.rawValue)),
    (.failure, ["changed", "unknown-key"]), (.retirement, ["early", "expired"]),
    (.stopReason, ["permission-lost", "scope-deleted", "walk"]),
    (.verification, ["totp", "recovery-code", "passkey", "provider", "provider-mfa"]),
    (.passkeyRefusal, ["unknown", "invalid", "copied", "sign-in-off"]),
    (.blockReach, ["network", "name-from-network", "name", "device"]),
    (.providerRefusal, refusals),
  ]

  private static let refusals = [
    "not-configured", "ended", "provider-access_denied", "provider", "code", "token-expired",
    "userinfo-401", "groups-not-listed", "no-role", "email-required", "email-taken",
    "other-person", "reauthentication-required", "throttled",
  ]

  @Test(arguments: written.indices)
  func `each code in the audit log has a text`(index: Int) {
    let (field, codes) = Self.written[index]
    #expect(!codes.isEmpty)
    for code in codes {
      let text = AuditCode.message(code, field)?.english
      #expect(text?.isEmpty == false, "\(field) \(code)")
    }
  }

  @Test func `a rejected sign-in with the provider shows the reason and its detail`() {
    func line(_ code: String) -> String {
      AuditFormatter.english.line(AuditChange(.providerRefusal, to: .code(code)))
    }
    #expect(line("no-role").hasSuffix(": no group with a role"))
    #expect(line("provider-access_denied").hasSuffix("rejected by the provider: access_denied"))
    #expect(line("userinfo-401").hasSuffix("with HTTP status 401"))
    #expect(line("provider-a\u{202E}b").hasSuffix("a\u{FFFD}b"))
  }

  @Test(arguments: [AuditResource.administrator, .signingKey, .masterKey])
  func `a chosen resource type is named as one, not as a group of actions`(type: AuditResource) {
    let options = AuditMenu.options([], chosen: type.rawValue, of: .resources)
    #expect(options.map(\.text.english) == [AuditText.name(of: type).english])
  }

  @Test func `a pool's log offers administrators as resources`() async throws {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let page = try await iris.get(try await world.eu + "/audit?kind=administrator")
      let name = AuditText.name(of: AuditResource.administrator).english
      #expect(page.says("<option value=\"administrator\" selected>\(name)</option>"))
      let all = try await iris.get(try await world.eu + "/audit")
      #expect(all.says("<option value=\"administrator\">\(name)</option>"))
    }
  }
}
