import Database
@testable import Identity
import OTP
import TestAuthenticator
import Testing

@testable import TestIdentity

/// Checks every cell of the table of console actions.
struct ActionTableTests {
  /// Action, permission, re-authentication, reason, second approver, and capability, written by hand
  /// so that every change to the table is deliberate.
  static let table = """
    inviteAdministrator manageAdministrators recent none never bookkeeping
    revokeInvitation manageAdministrators none none never bookkeeping
    grantRole manageAdministrators recent none never bookkeeping
    revokeRole manageAdministrators recent none never bookkeeping
    resetAdministratorFactor manageAdministrators recent written never bookkeeping
    removeAdministrator manageAdministrators recent none never bookkeeping
    endAdministratorSessions manageAdministrators none none never bookkeeping
    changeReauthenticationInterval protectUsers secondFactor none never bookkeeping
    changePasskeyRequirement manageAdministrators secondFactor written never bookkeeping
    changeSignInProvider manageAdministrators secondFactor written never bookkeeping
    removeSignInProvider manageAdministrators secondFactor written never bookkeeping
    changeSessionLimits manageAdministrators secondFactor none never bookkeeping
    changeAuditRetention manageAdministrators secondFactor written never bookkeeping
    confirmClock protectUsers secondFactor none never bookkeeping
    createProject createProject none none never bookkeeping
    createTenant manageTenants none none never hosting
    deleteProject deleteProject recent none never hosting
    deleteTenant manageTenants recent none never hosting
    changeSettings changePool none none never hosting
    weakenSettings changePool recent none never hosting
    narrowSignIn changePool recent written never hosting
    enableSignIn changePool recent none never hosting
    disableSignIn changePool none none never hosting
    editGuidance changePool none none never bookkeeping
    changePolicy changePolicy none none never policyChanges
    weakenPolicy changePolicy recent written affectedUsers policyChanges
    signOffReview signOffReview secondFactor none never bookkeeping
    createAPIKey manageKeys recent none never hosting
    revokeAPIKey manageKeys recent none never hosting
    createServiceToken manageKeys recent none never hosting
    revokeServiceToken manageKeys none none never hosting
    registerTokenSigningKey manageTrust recent none never hosting
    revokeTokenSigningKey manageTrust recent none never hosting
    addIdentityProvider manageTrust recent none never hosting
    changeIdentityProvider manageTrust recent none never hosting
    removeIdentityProvider manageTrust recent none never hosting
    narrowProvider manageTrust recent written never hosting
    openMessage readMessages recent none never hosting
    exportUsers exportUsers recent none never bookkeeping
    createUser changeUsers none none never hosting
    dismissAttention seePool none none never bookkeeping
    connectProject manageTrust secondFactor written never connection
    changeConnection manageTrust secondFactor written never connection
    pauseConnection changePool none none never connection
    syncConnection changePool none none never connection
    changeSupportRules editSupportRules secondFactor none never bookkeeping
    unblockAgent protectUsers secondFactor none never bookkeeping
    removeFactor removeFactors secondFactor chosen lastFactor userChanges
    removeAllFactors removeFactors secondFactor chosen lastFactor userChanges
    restoreFactors removeFactors secondFactor chosen never secrets
    purgeFactors removeFactors secondFactor chosen never secrets
    suspendFactor removeFactors secondFactor chosen never secrets
    resumeFactor removeFactors secondFactor chosen never secrets
    renameFactor removeFactors secondFactor chosen never hostedUsers
    unlockCodes removeFactors secondFactor chosen never secrets
    endSessions endSessions secondFactor chosen never userChanges
    exemptUser protectUsers secondFactor chosen never bookkeeping
    endExemption protectUsers secondFactor chosen never bookkeeping
    protectUser protectUsers secondFactor chosen never bookkeeping
    allowChanges protectUsers secondFactor chosen never bookkeeping
    disableUser changeUsers secondFactor chosen never userChanges
    enableUser changeUsers secondFactor chosen never userChanges
    verifyEmail changeUsers secondFactor chosen never hostedUsers
    deleteUser changeUsers secondFactor chosen never hosting
    exportUserData exportUsers secondFactor chosen never bookkeeping
    eraseUser changeUsers secondFactor chosen never bookkeeping
    eraseDeletedUser changeUsers secondFactor written never bookkeeping
    createTemporaryCode removeFactors secondFactor chosen never secrets
    revokeTemporaryCode removeFactors secondFactor chosen never secrets
    revokeRecoveryCodes removeFactors secondFactor chosen never secrets
    resynchronizeFactor removeFactors secondFactor chosen never secrets
    clearClockOffset removeFactors secondFactor chosen never secrets
    sendCallerCode removeFactors none none never secrets
    sendEnrollmentLink removeFactors secondFactor chosen never secrets
    startCampaign removeFactors secondFactor none manyUsers secrets
    previewBulkRemoval removeFactors none none never hostedUsers
    startBulkRemoval removeFactors secondFactor chosen manyUsers hostedUsers
    stopBulkRemoval removeFactors none none never hostedUsers
    undoBulkRemoval removeFactors secondFactor chosen never secrets
    approveRequest removeFactors secondFactor none never userChanges
    rejectRequest removeFactors secondFactor none never userChanges
    withdrawRequest removeFactors none none never userChanges
    approvePolicyChange changePolicy secondFactor none never policyChanges
    rejectPolicyChange changePolicy secondFactor none never policyChanges
    withdrawPolicyChange changePolicy none none never policyChanges
    """

  private struct Line {
    let action: ConsoleAction
    let permission: Permission
    let reauthentication: String
    let reason: String
    let secondApprover: String
    let needs: String

    init(_ text: Substring) throws {
      let words = text.split(separator: " ").map(String.init)
      try #require(words.count == 6, "\(text)")
      action = try #require(ConsoleAction(rawValue: words[0]), "\(text)")
      permission = try #require(Permission.allCases.first { "\($0)" == words[1] }, "\(text)")
      (reauthentication, reason, secondApprover) = (words[2], words[3], words[4])
      needs = words[5]
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
      #expect("\(requirements.needs)" == line.needs, "\(line.action)")
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
