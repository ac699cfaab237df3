import Database
import HTTP
import OTP
import Testing

@testable import Console
@testable import Identity

/// What a user's page shows first for each thing that's wrong.
@Suite struct IntentRowTests {
  private static let jo = "u77TnC0aPzQ4hW1sGv9M"
  private static let guest = "zX3eR5tY7uI9oP1aS2dF"

  private enum State: CaseIterable {
    case nothing, drift, locked, suspended, incorrect, disabled
    case mandatory, optional, unverified, phone, withoutAddress, anonymous

    var uid: String {
      switch self {
      case .nothing, .drift, .locked, .suspended, .incorrect, .disabled: World.chiara
      case .mandatory, .optional, .unverified, .phone: jo
      case .withoutAddress, .anonymous: guest
      }
    }

    /// The heading's beginning, the action with it, and the rows in their order.
    var shown: (finding: String, remedy: String?, rows: [String]) {
      let (lost, atHome, rejected) = ("Lost or stolen device", "Phone at home", "Code rejected")
      let (enroll, cannot) = ("Ready to enroll", "Can’t enroll yet")
      return switch self {
      case .nothing: ("No sign-in problem", nil, [lost, atHome, rejected])
      case .drift: ("The phone’s clock is about", "Resynchronize", [lost, atHome])
      case .locked: ("Codes are locked after 10", "Unlock codes…", [lost, atHome])
      case .suspended: ("is suspended through", "End suspension of", [lost])
      case .incorrect: ("The last 3 codes were incorrect", nil, [rejected, lost, atHome])
      case .disabled: ("The user is disabled", "Enable user…", [lost, atHome, rejected])
      case .mandatory: ("Hasn’t enrolled; mandatory since Nov", nil, [enroll, cannot])
      case .optional: ("No second factor", nil, [enroll, cannot])
      case .unverified: ("No second factor", "Mark email as verified", [cannot])
      case .phone: ("All second factors of this user are of disabled types", nil, [lost, atHome])
      case .withoutAddress: ("Hasn’t enrolled; mandatory since Nov", nil, [cannot])
      case .anonymous: ("No second factor", nil, [cannot])
      }
    }

    func enter(_ world: World, _ ada: Browser) async throws {
      let user = try await world.eu + "/users/\(uid)"
      switch self {
      case .nothing, .unverified: break
      case .drift:
        try await world.write(
          [
            CodeFinding(.late, distance: -8, step: 100),
            CodeFinding(.late, distance: -8, step: 102),
          ],
          of: uid)
      case .locked:
        try await world.write(
          [CodeFinding](repeating: CodeFinding(.wrong), count: 10), of: uid)
      case .incorrect:
        try await world.write(
          [CodeFinding](repeating: CodeFinding(.wrong), count: 3), of: uid)
      case .suspended:
        let factor = try await world.factor(of: uid).text
        _ = try await ada.submit(
          "\(user)/factors/\(factor)/suspension", ["reason": "lost", "until": "tomorrow"])
      case .disabled: _ = try await ada.submit(user + "/disabling", ["reason": "left"])
      case .mandatory:
        try await verify(world)
        try await demand(world)
      case .optional: try await verify(world)
      case .phone:
        try await verify(
          world, [FactorEntry(displayName: "Mobile", phoneNumber: "+15555550100")])
      case .withoutAddress: try await demand(world)
      case .anonymous:
        try await demand(world)
        try await world.database.write { [uid] connection in
          _ = try connection.run(
            "UPDATE /* test */ account SET anonymous = \(true) WHERE uid = \(uid)")
        }
      }
    }

    private func verify(_ world: World, _ factors: [FactorEntry] = []) async throws {
      var change = AccountChange()
      change.emailVerified = true
      if !factors.isEmpty { change.factors = .replace(factors) }
      try await world.identity.accounts.update(
        try await world.euPool, ID(uid), change, by: Author(actor: .commandLine))
    }

    private func demand(_ world: World) async throws {
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { $0.pattern = .mandatory }
    }
  }

  /// Returns the titles of the rows of what callers say.
  private func rows(_ page: Answer) -> [String] {
    let list = page.text.split(separator: "<ul class=\"intents no-print\"").dropFirst().first
    let rows = list?.split(separator: "</ul>").first?.split(separator: "<strong>").dropFirst()
    return (rows ?? []).map { String($0.prefix { $0 != "<" }) }
  }

  @Test func `each cause has its heading, its action, and the rows in the order of its calls`()
    async throws
  {
    for state in State.allCases {
      try await World.withSampleData { world in
        let ada = try await Browser.signedIn(world)
        try await state.enter(world, ada)
        try await world.setSupportRules {
          $0.resynchronization = true
          $0.identityProof = ["Called back"]
        }
        let page = try await ada.get(try await world.eu + "/users/\(state.uid)")
        let shown = state.shown
        #expect(rows(page) == shown.rows, "\(state)")
        let heading = page.text.split(separator: "aria-label=\"Diagnosis\"").last ?? ""
        let diagnosis = heading.split(separator: "</section>").first ?? ""
        #expect(diagnosis.contains(shown.finding), "\(state)")
        if let remedy = shown.remedy { #expect(diagnosis.contains(remedy), "\(state)") }
        #expect(page.says("Confirm the caller’s identity first: Called back."), "\(state)")
        #expect(
          diagnosis.contains("until an administrator unlocks the codes") == (state == .locked),
          "\(state)")
        Markup.check(page)
      }
    }
  }

  @Test func `a removed factor is restored where it's found, and deleted among what's rare`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await ada.submit(user + "/factors/removal", ["reason": "lost"])
      let page = try await ada.get(user)
      #expect(rows(page).last == "Can’t enroll yet" && rows(page).contains("Device found"))
      let list = page.text.split(separator: "<ul class=\"intents no-print\"").last ?? ""
      let parts = list.split(separator: "<details class=\"more", maxSplits: 1)
      #expect(parts.count == 2)
      #expect(
        parts.first?.contains("/undo\"") == true && parts.first?.contains("/purge\"") == false)
      #expect(parts.last?.contains("/purge\"") == true)
    }
  }
}
