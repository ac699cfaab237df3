import Database
@testable import Identity
import Testing

/// Tests the notes that agents write about users for each other.
struct NoteTests {
  @Test func `notes are listed newest first with their author, and are deleted with the account`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let agent = try await instance.agent()
      let support = instance.identity.support
      for (wrong, error) in [
        ("", "emptyNote"), (" \n ", "emptyNote"),
        (String(repeating: "é", count: 1_001), "noteTooLong"),
      ] {
        await expect(error) {
          try await support.writeNote(instance.acme, alice.id, agent.request(.locked, note: wrong))
        }
      }
      await expect("reasonRequired") {
        try await support.writeNote(instance.acme, alice.id, agent.request(nil, note: "x"))
      }
      await expect("emptyNote+reasonRequired") {
        try await support.writeNote(instance.acme, alice.id, agent.request(nil))
      }
      await expect("emptyNote") {
        try await support.writeNote(instance.acme, alice.id, agent.request(.other))
      }
      await expect("ticketTooLong") {
        try await support.writeNote(
          instance.acme, alice.id,
          agent.request(.locked, note: "x", ticket: String(repeating: "t", count: 101)))
      }
      await expect("accountNotFound") {
        try await support.writeNote(instance.east, alice.id, agent.request(.locked, note: "x"))
      }
      for number in 1...21 {
        instance.clock.advance(1)
        try await support.writeNote(
          instance.acme, alice.id, agent.request(.locked, note: " note \(number) ", ticket: "T-1"))
      }
      let notes = try await instance.records(of: alice).notes
      #expect(notes.count == 20 && notes.first?.text == "note 21")
      #expect(notes.first?.author == "Dora Support" && notes.first?.writtenAt == instance.now)
      let log = try await instance.log()
      #expect(log.map(\.action).tally[.accountNote] == 21)
      let row = try #require(log.first)
      #expect((row.reason, row.note, row.ticket) == ("locked", "note 21", "T-1"))
      try await instance.identity.accounts.delete(instance.acme, alice.id, by: Instance.boss)
      let left = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM user_note WHERE text <> ''") {
          try $0.value(0) as Int
        }
      }
      #expect(left == 0)
    }
  }

  @Test func `a note requires no identity check or code, and a blocked agent can still write one`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let support = instance.identity.support
      var settings = SupportRules()
      (settings.identityProof, settings.actionsPerHour) = (["called back"], 1)
      try await support.change(instance.acme, to: settings, by: Instance.boss)
      let owner = try await instance.agent("olga", role: .owner)
      _ = try await support.protect(
        instance.acme, alice.id, true, owner.request(.asked, proofs: ["called back"]))
      let agent = try await instance.agent()
      for number in 1...3 {
        try await support.writeNote(
          instance.acme, alice.id, agent.request(.locked, note: "note \(number)"))
      }
      let row = try #require(try await instance.log().first)
      #expect(row.action == .accountNote && row.proof == nil)
      // The hourly action is still available, and being blocked doesn't prevent notes.
      let eligibility = try await support.eligibility(
        agent.session, on: alice.id, in: instance.acme)
      #expect(eligibility.actionsLeft == 1)
      let bob = try await instance.account(.bob)
      _ = try await support.endSessions(
        instance.acme, bob.id, agent.request(.left, proofs: ["called back"]))
      await expect("held") {
        try await support.endSessions(
          instance.acme, bob.id, agent.request(.left, proofs: ["called back"]))
      }
      // Long after the agent's last code.
      instance.clock.advance(20 * 60)
      let noteEligibility = try await support.eligibility(
        agent.session, on: alice.id, in: instance.acme, performing: .writeNote)
      #expect(
        noteEligibility.refusal == nil && !noteEligibility.asksForCode && !noteEligibility.isHeld)
      #expect(noteEligibility.actionsLeft > 0 && noteEligibility.settings.identityProof.isEmpty)
      try await support.writeNote(instance.acme, alice.id, agent.request(.locked, note: "still"))
      let messages = try await instance.records(of: alice).messages
      #expect(messages.isEmpty)
    }
  }

  @Test func `only support agents write notes, and never about themselves`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let support = instance.identity.support
      let auditor = try await instance.agent("iris", role: .auditor)
      await expect("notAllowed") {
        try await support.writeNote(instance.acme, alice.id, auditor.request(.locked, note: "x"))
      }
      var new = NewAccount()
      new.email = "dora@desk.example.com"
      let own = try await instance.identity.accounts.create(
        instance.acme, new, by: Instance.boss)
      let dora = try await instance.agent()
      await expect("ownAccount") {
        try await support.writeNote(instance.acme, own.id, dora.request(.locked, note: "is known"))
      }
      let eligibility = try await support.eligibility(
        dora.session, on: own.id, in: instance.acme, performing: .writeNote)
      guard case .ownAccount? = eligibility.refusal else {
        Issue.record("expected a refusal for the agent's own account")
        return
      }
    }
  }

  @Test func `a note is deleted once, with one audit row, and its ID is never reused`()
    async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let (dora, erik) = (try await instance.agent(), try await instance.agent("erik"))
      let support = instance.identity.support
      let kept = try await support.writeNote(
        instance.acme, alice.id, dora.request(.locked, note: "stays"))
      let note = try await support.writeNote(
        instance.acme, alice.id, dora.request(.locked, note: "of somebody else"))
      let found = try await support.note(instance.acme, alice.id, note.id)
      #expect(found.note.text == "of somebody else" && found.account.id == alice.id)
      await expect("nothingToDo") {
        try await support.deleteNote(instance.acme, bob.id, note.id, erik.request(.mistake))
      }
      await expect("accountNotFound") {
        try await support.deleteNote(instance.east, alice.id, note.id, erik.request(.mistake))
      }
      await expect("reasonRequired") {
        try await support.deleteNote(instance.acme, alice.id, note.id, erik.request(nil))
      }
      await expect("noteRequired") {
        try await support.deleteNote(instance.acme, alice.id, note.id, erik.request(.other))
      }
      let rows = try await instance.log().count
      let gone = try await support.deleteNote(
        instance.acme, alice.id, note.id, erik.request(.mistake, ticket: "T-2"))
      #expect(gone.text == "of somebody else")
      let log = try await instance.log()
      #expect(log.count == rows + 1)
      let row = try #require(log.first)
      #expect(row.action == .accountDeleteNote && row.objectID == alice.id.text)
      #expect((row.reason, row.ticket, row.actorName) == ("mistake", "T-2", "erik"))
      #expect(row.old(.noteAuthor) == .text("Dora Support"))
      #expect(row.fields == [.noteAuthor, .noteWrittenAt])
      await expect("nothingToDo") {
        try await support.deleteNote(instance.acme, alice.id, note.id, erik.request(.mistake))
      }
      await expect("nothingToDo") { try await support.note(instance.acme, alice.id, note.id) }
      let next = try await support.writeNote(
        instance.acme, alice.id, dora.request(.locked, note: "next"))
      #expect(next.id != note.id)
      #expect(try await instance.records(of: alice).notes.map(\.id) == [next.id, kept.id])
    }
  }
}
