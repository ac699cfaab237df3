import HTTP
import Identity
import Testing

@testable import Console

/// Support forms show all errors at once: a summary with links, and a message next to each field.
@Suite struct SupportAnswerPageTests {
  private func requireProof(_ world: World) async throws {
    try await world.setSupportRules { $0.identityProof = ["Called back"] }
  }

  /// Expects an error summary that links to these fields in order, each with its own message.
  private func check(
    _ answer: Answer, _ fields: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(answer.status == .unprocessableContent, sourceLocation: sourceLocation)
    let links = answer.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" }
    #expect(links == fields.map { "#\($0)" }, sourceLocation: sourceLocation)
    for field in fields {
      #expect(answer.says("id=\"\(field)-error\""), "\(field)", sourceLocation: sourceLocation)
      #expect(answer.says("id=\"\(field)\""), "\(field)", sourceLocation: sourceLocation)
    }
    Markup.check(answer)
  }

  @Test func `an incomplete form shows all errors and keeps its values`() async throws {
    try await World.withSampleData { world in
      try await requireProof(world)
      let (nadia, app) = try await Browser.withApp(world, as: World.nadia)
      world.clock.advance(seconds: 900)
      let user = try await world.eu + "/users/\(World.chiara)"
      let removal = "\(user)/factors/\(try await world.factor(of: World.chiara).text)/removal"
      let empty = try await nadia.submit(removal, [:])
      check(empty, ["reason", "proof", "code"])
      #expect(empty.says("There are 3 problems"))
      try Snapshot.check(empty.text, named: "removal-unanswered.html")
      let long = String(repeating: "W", count: 101)
      let typed = try await nadia.submit(
        removal,
        ["reason": "other", "ticket": long, "note": "", "code": try world.code(of: app)])
      check(typed, ["proof", "ticket", "note", "code"])
      #expect(typed.says(long) && typed.says("It wasn’t checked"))
      #expect(typed.says("value=\"other\" selected"))
      // The code is still valid.
      let done = try await nadia.submit(
        removal,
        [
          "reason": "other", "note": "Says so.", "proof": "Called back",
          "code": try world.code(of: app),
        ])
      #expect(done.location == user)
    }
  }

  @Test func `every support action shows all errors at once`() async throws {
    try await World.withSampleData { world in
      try await requireProof(world)
      try await world.setSupportRules { $0.temporaryCodes = true }
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let user = try await world.eu + "/users/\(World.chiara)"
      let factor = "\(user)/factors/\(try await world.factor(of: World.chiara).text)"
      world.clock.advance(seconds: 900)
      for path in [
        "\(factor)/removal", "\(user)/factors/removal", "\(user)/temporary-code",
        "\(user)/sessions/end", "\(user)/protection", "\(user)/disabling",
      ] {
        check(try await ada.submit(path, [:]), ["reason", "proof", "code"])
      }
      check(
        try await ada.submit("\(factor)/suspension", ["day": "soon"]),
        ["day", "reason", "proof", "code"])
      check(
        try await ada.submit("\(user)/deletion", ["confirmation": "somebody", "reason": "other"]),
        ["proof", "note", "confirmation", "code"])
      let draft = try await ada.submit(
        try await world.eu + "/bulk-removals", ["list": World.chiara])
      check(
        try await ada.submit(try #require(draft.location), [:]), ["reason", "proof", "code"])
    }
  }

  @Test func `an error that no input can fix is shown alone`() async throws {
    try await World.withSampleData { world in
      try await requireProof(world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await ada.submit(
        user + "/protection", ["reason": "compromised", "proof": "Called back"])
      let answer = try await nadia.submit(user, [:], to: user + "/factors/removal")
      #expect(answer.status == .unprocessableContent)
      #expect(
        answer.says("Actions on it require the owner role.") && !answer.says("problems</h2>"))
    }
  }
}
