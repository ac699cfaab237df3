import Identity
import Testing

@testable import TestIdentity

/// What administrators dismiss from what needs attention.
struct DismissedAttentionTests {
  private func dismissed(
    _ instance: Instance, by agent: Agent, in pool: Pool? = nil
  ) async throws -> Set<String> {
    let all = try await instance.identity.dismissedAttention.all(of: agent.administrator, in: pool)
    return Set(all.keys.map(\.text))
  }

  @Test(arguments: AttentionKind.allCases)
  func `what's critical can't be dismissed, and all else can`(_ kind: AttentionKind) async throws {
    try await withInstance { instance in
      let agent = try await instance.agent()
      let mark = instance.attention(kind)
      if kind.severity == .critical {
        await expect("notAllowed") {
          try await instance.identity.dismissedAttention.set(mark, agent.request())
        }
        #expect(try await dismissed(instance, by: agent) == [])
      } else {
        try await instance.identity.dismissedAttention.set(mark, agent.request())
        #expect(try await dismissed(instance, by: agent) == [mark.text])
        let row = try #require(try await instance.log().first)
        #expect(row.action == .attentionDismiss && row.project == instance.acme.project)
      }
    }
  }

  @Test func `it's dismissed for oneself for 30 days`() async throws {
    try await withInstance { instance in
      let (agent, other) = (try await instance.agent(), try await instance.agent("olga"))
      let mark = instance.attention(.unverified, at: instance.now)
      let until = try await instance.identity.dismissedAttention.set(mark, agent.request())
      #expect(until == instance.now.advanced(bySeconds: 30 * 86_400))
      #expect(try await dismissed(instance, by: agent) == [mark.text])
      #expect(try await dismissed(instance, by: other) == [])
      #expect(AttentionMark(mark.text) == mark)
      instance.clock.advance(30 * 86_400)
      #expect(try await dismissed(instance, by: agent) == [])
    }
  }

  @Test func `it's dismissed in the last state that was seen, and in no other`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent()
      let attention = instance.identity.dismissedAttention
      let later = instance.now.advanced(bySeconds: 1)
      let states = [
        instance.attention(.unverified, number: 5), instance.attention(.unverified, number: 6),
        instance.attention(.unverified, at: later, number: 6),
      ]
      #expect(Set(states.map(\.text)).count == states.count)
      for mark in states {
        try await attention.set(mark, agent.request())
        #expect(try await dismissed(instance, by: agent) == [mark.text])
      }
      // Another kind and another pool are apart.
      let others = [instance.attention(.stale), instance.attention(.unverified, in: instance.east)]
      for mark in others { try await attention.set(mark, agent.request()) }
      #expect(
        try await dismissed(instance, by: agent) == Set(([states[2]] + others).map(\.text)))
      #expect(
        try await dismissed(instance, by: agent, in: instance.acme)
          == [states[2].text, others[0].text])
    }
  }

  @Test func `what was dismissed is shown again`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent()
      let attention = instance.identity.dismissedAttention
      let mark = instance.attention(.unverified)
      for _ in 0..<2 { try await attention.set(mark, agent.request()) }
      try await attention.set(mark, isUndo: true, agent.request())
      #expect(try await dismissed(instance, by: agent) == [])
      #expect(try await instance.log().first?.action == .attentionRestore)
    }
  }

  @Test func `an agent of one pool can't dismiss anything of another, or of its project`()
    async throws
  {
    try await withInstance { instance in
      let agent = try await instance.agent("gus", project: instance.globex.project)
      let (line, east) = (Author(actor: .commandLine), instance.east)
      let new = try await instance.identity.administrators.create(
        email: "tess@desk.example.com", displayName: "Tess", password: Instance.consolePassword,
        grant: Grant(role: .support, project: east.project, tenant: east.tenant), by: line)
      let tess = try await instance.agent("tess")
      #expect(tess.administrator.id == new.id)
      let attention = instance.identity.dismissedAttention
      for (agent, pool) in [(agent, instance.acme), (agent, east), (tess, instance.acme)] {
        await expect("notAllowed") {
          try await attention.set(
            instance.attention(.unverified, in: pool), agent.request())
        }
      }
      try await attention.set(instance.attention(.unverified, in: east), tess.request())
      #expect(try await dismissed(instance, by: tess).count == 1)
    }
  }

  @Test func `it goes with its tenant, and doesn't keep an administrator`() async throws {
    try await withInstance { instance in
      let (agent, other) = (try await instance.agent(), try await instance.agent("olga"))
      let attention = instance.identity.dismissedAttention
      for pool in [instance.acme, instance.east] {
        try await attention.set(instance.attention(.unverified, in: pool), agent.request())
      }
      try await attention.set(instance.attention(.unverified), other.request())
      _ = try await instance.identity.administrators.remove(
        other.administrator.id, by: .program(Author(actor: .commandLine)))
      try await instance.identity.pools.delete(
        project: instance.east.project, tenant: instance.east.tenant, by: .program(Instance.boss))
      while try await instance.identity.purge() {}
      // A row that's left would be about the instance.
      #expect(
        try await dismissed(instance, by: agent) == [instance.attention(.unverified).text])
    }
  }

  @Test func `the oldest gives way beyond a number`() async throws {
    try await withInstance { instance in
      let agent = try await instance.agent()
      let attention = instance.identity.dismissedAttention
      var marks: [String] = []
      let line = Author(actor: .commandLine)
      for number in 0...10 {
        let pool = try await instance.identity.pools.createTenant(
          in: instance.acme.project, PoolEdit(displayName: "more-\(number)"), by: .program(line)
        ).value.pool
        for kind in AttentionKind.allCases where kind.severity != .critical {
          instance.clock.advance(1)
          let mark = instance.attention(kind, in: pool)
          marks.append(mark.text)
          try await attention.set(mark, agent.request())
        }
      }
      #expect(marks.count > 200)
      #expect(try await dismissed(instance, by: agent) == Set(marks.suffix(200)))
      // What's shown again or dismissed once more takes no other's place.
      let last = try #require(marks.last.flatMap { AttentionMark($0) })
      try await attention.set(last, agent.request())
      #expect(try await dismissed(instance, by: agent) == Set(marks.suffix(200)))
      try await attention.set(last, isUndo: true, agent.request())
      #expect(try await dismissed(instance, by: agent) == Set(marks.suffix(200).dropLast()))
    }
  }

  @Test(
    arguments: [
      "", "unverified/a", "unverified/a//x/y", "nothing/a//0.1", "unverified/a//x",
      "unverified/a//0", "unverified/a//0.1.2", "unverified/a//0.99999999999999999999",
    ])
  func `a malformed mark is refused`(_ text: String) {
    #expect(AttentionMark(text) == nil)
  }
}
