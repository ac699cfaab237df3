import Database
@testable import Identity
import OTP
import TestAuthenticator
import Testing

@testable import TestIdentity

/// Checks every cell of the table of console actions.
struct ActionTableTests {
  /// Action, permission, re-authentication, reason, and second approver, written by hand so that
  /// every change to the table is deliberate.
  static let table = """
    inviteAdministrator manageAdministrators recent none never
    revokeInvitation manageAdministrators none none never
    grantRole manageAdministrators recent none never
    revokeRole manageAdministrators recent none never
    resetAdministratorFactor manageAdministrators recent written never
    removeAdministrator manageAdministrators recent none never
    endAdministratorSessions manageAdministrators none none never
    changeReauthenticationInterval protectUsers secondFactor none never
    changePasskeyRequirement manageAdministrators secondFactor written never
    changeSignInProvider manageAdministrators secondFactor written never
    removeSignInProvider manageAdministrators secondFactor written never
    changeSessionLimits manageAdministrators secondFactor none never
    changeAuditRetention manageAdministrators secondFactor written never
    confirmClock protectUsers secondFactor none never
    createProject createProject none none never
    createTenant manageTenants none none never
    deleteProject deleteProject recent none never
    deleteTenant manageTenants recent none never
    changeSettings changePool none none never
    weakenSettings changePool recent none never
    narrowSignIn changePool recent written never
    enableSignIn changePool recent none never
    disableSignIn changePool none none never
    editGuidance changePool none none never
    changePolicy changePolicy none none never
    weakenPolicy changePolicy recent written affectedUsers
    signOffReview signOffReview secondFactor none never
    createAPIKey manageKeys recent none never
    revokeAPIKey manageKeys recent none never
    createServiceToken manageKeys recent none never
    revokeServiceToken manageKeys none none never
    registerTokenSigningKey manageTrust recent none never
    revokeTokenSigningKey manageTrust recent none never
    addIdentityProvider manageTrust recent none never
    changeIdentityProvider manageTrust recent none never
    removeIdentityProvider manageTrust recent none never
    narrowProvider manageTrust recent written never
    openMessage readMessages recent none never
    exportUsers exportUsers recent none never
    createUser changeUsers none none never
    dismissAttention seePool none none never
    changeSupportRules editSupportRules secondFactor none never
    unblockAgent protectUsers secondFactor none never
    removeFactor removeFactors secondFactor chosen lastFactor
    removeAllFactors removeFactors secondFactor chosen lastFactor
    restoreFactors removeFactors secondFactor chosen never
    purgeFactors removeFactors secondFactor chosen never
    suspendFactor removeFactors secondFactor chosen never
    resumeFactor removeFactors secondFactor chosen never
    renameFactor removeFactors secondFactor chosen never
    unlockCodes removeFactors secondFactor chosen never
    endSessions endSessions secondFactor chosen never
    exemptUser protectUsers secondFactor chosen never
    endExemption protectUsers secondFactor chosen never
    protectUser protectUsers secondFactor chosen never
    allowChanges protectUsers secondFactor chosen never
    disableUser changeUsers secondFactor chosen never
    enableUser changeUsers secondFactor chosen never
    verifyEmail changeUsers secondFactor chosen never
    deleteUser changeUsers secondFactor chosen never
    exportUserData exportUsers secondFactor chosen never
    eraseUser changeUsers secondFactor chosen never
    eraseDeletedUser changeUsers secondFactor written never
    createTemporaryCode removeFactors secondFactor chosen never
    revokeTemporaryCode removeFactors secondFactor chosen never
    revokeRecoveryCodes removeFactors secondFactor chosen never
    resynchronizeFactor removeFactors secondFactor chosen never
    clearClockOffset removeFactors secondFactor chosen never
    sendCallerCode removeFactors none none never
    sendEnrollmentLink removeFactors secondFactor chosen never
    startCampaign removeFactors secondFactor none manyUsers
    previewBulkRemoval removeFactors none none never
    startBulkRemoval removeFactors secondFactor chosen manyUsers
    stopBulkRemoval removeFactors none none never
    undoBulkRemoval removeFactors secondFactor chosen never
    approveRequest removeFactors secondFactor none never
    rejectRequest removeFactors secondFactor none never
    withdrawRequest removeFactors none none never
    approvePolicyChange changePolicy secondFactor none never
    rejectPolicyChange changePolicy secondFactor none never
    withdrawPolicyChange changePolicy none none never
    """

  private struct Line {
    let action: ConsoleAction
    let permission: Permission
    let reauthentication: String
    let reason: String
    let secondApprover: String

    init(_ text: Substring) throws {
      let words = text.split(separator: " ").map(String.init)
      try #require(words.count == 5, "\(text)")
      action = try #require(ConsoleAction(rawValue: words[0]), "\(text)")
      permission = try #require(Permission.allCases.first { "\($0)" == words[1] }, "\(text)")
      (reauthentication, reason, secondApprover) = (words[2], words[3], words[4])
    }

    /// The outcome for an administrator who has the permission.
    func expected(isRecent: Bool, hasReason: Bool) -> String {
      var faults: [String] = []
      if !hasReason {
        switch reason {
        case "chosen": faults = ["reasonRequired"]
        case "written": faults = ["writtenReasonRequired"]
        default: break
        }
      }
      if reauthentication != "none", !isRecent { faults.append("codeRequired") }
      return faults.isEmpty ? "done" : faults.joined(separator: "+")
    }
  }

  private static func lines() throws -> [Line] {
    try table.split(separator: "\n").map(Line.init)
  }

  @Test func `the table lists every action once with its requirements`() throws {
    let lines = try Self.lines()
    #expect(lines.map(\.action) == ConsoleAction.allCases)
    for line in lines {
      let requirements = line.action.requirements
      #expect(requirements.permission == line.permission, "\(line.action)")
      #expect(requirements.reauthentication.rawValue == line.reauthentication, "\(line.action)")
      #expect(requirements.reason.rawValue == line.reason, "\(line.action)")
      #expect(requirements.secondApprover.rawValue == line.secondApprover, "\(line.action)")
    }
  }

  @Test func `exactly the actions whose reason is chosen offer reasons, and “other” last`() {
    for action in ConsoleAction.allCases {
      let reasons = action.reasons
      #expect(reasons.isEmpty == (action.requirements.reason != .chosen), "\(action)")
      #expect(reasons.isEmpty || reasons.count > 1 && reasons.last == .other, "\(action)")
      #expect(Set(reasons).count == reasons.count, "\(action)")
    }
    #expect(Set(ConsoleAction.allCases.flatMap(\.reasons)) == Set(SupportReason.allCases))
  }

  @Test func `only actions about a lost device offer “lost”`() {
    #expect(
      ConsoleAction.allCases.filter { $0.reasons.contains(.lost) } == [
        .removeFactor, .removeAllFactors, .suspendFactor, .endSessions, .exemptUser,
        .createTemporaryCode, .startBulkRemoval,
      ])
  }

  @Test func `stored reasons keep their names`() {
    #expect(
      SupportReason.allCases.map(\.rawValue) == [
        "lost", "stolen", "compromised", "replaced", "locked", "left", "found", "mistake", "asked",
        "enrollment", "confirmed", "data-request", "resolved", "other",
      ])
  }

  @Test func `C4: each action checks role, re-authentication, and reason`() async throws {
    try await withInstance { instance in
      let lines = try Self.lines()
      for role in Role.allCases {
        let agent = try await instance.agentWithDevice("\(role)", role: role)
        for isRecent in [true, false] {
          if !isRecent { instance.clock.advance(900) }
          for hasReason in [true, false] {
            for line in lines {
              let request = agent.request(
                hasReason ? .lost : nil, note: hasReason ? "because" : "")
              let outcome = try await instance.authorize(line.action, request)
              let expected =
                role.permissions.contains(line.permission)
                ? line.expected(isRecent: isRecent, hasReason: hasReason) : "notAllowed"
              #expect(
                outcome == expected,
                "\(line.action) as \(role), recent: \(isRecent), reason: \(hasReason)")
            }
          }
        }
      }
    }
  }

  @Test func `without a second factor, a recent sign-in suffices, but not for support actions`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let session = try await instance.giveConsolePassword(olga).session.session
      let request = ActionRequest(
        agent: session, author: instance.author(olga), reason: .lost, note: "because",
        proof: .code("123456"))
      for line in try Self.lines() {
        let expected = line.reauthentication == "secondFactor" ? "noSecondFactor" : "done"
        #expect(try await instance.authorize(line.action, request) == expected, "\(line.action)")
      }
      instance.clock.advance(899)
      #expect(try await instance.authorize(.inviteAdministrator, request) == "done")
      instance.clock.advance(1)
      for line in try Self.lines() {
        let expected = line.reauthentication == "none" ? "done" : "noSecondFactor"
        #expect(try await instance.authorize(line.action, request) == expected, "\(line.action)")
      }
    }
  }

  @Test func `with a second factor, a recent password alone doesn't suffice`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let session = try await instance.giveConsolePassword(olga).session.session
      // Adding a passkey doesn't re-authenticate the session.
      _ = try await instance.addPasskey(try TestAuthenticator(), in: session)
      let request = ActionRequest(agent: session, author: instance.author(olga))
      #expect(try await instance.authorize(.inviteAdministrator, request) == "passkeyRequired")
    }
  }

  @Test func `current grants are checked, not those at sign-in`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agentWithDevice("olga", role: .owner)
      _ = try await instance.administrator("otto", .owner)
      try await instance.identity.administrators.revoke(
        Grant(role: .owner), from: agent.administrator.id, by: .program(Author(actor: .commandLine))
      )
      let outcome = try await instance.authorize(.inviteAdministrator, agent.request(nil))
      #expect(outcome == "notAllowed")
    }
  }
}

extension Instance {
  /// Authorizes an action on the instance; returns "done" or the name of the error.
  func authorize(_ action: ConsoleAction, _ request: ActionRequest) async throws -> String {
    let now = now
    let authorization = identity.authorization
    let result = try await database.read { connection in
      try authorization.authorize(action, request, in: .instance, at: now, connection)
    }
    return switch result {
    case .success: "done"
    case .failure(let error): caseName(error)
    }
  }
}
