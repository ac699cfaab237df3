import HTTP
import Identity
import Testing

@testable import Console

/// The pages of event streams.
@Suite struct EventStreamPageTests {
  @Test func `the list and a stream's page match their snapshots`() async throws {
    try await World.withSampleData { world in
      let id = try await world.eventStream()
      let ada = try await Browser.signedIn(world)
      let pages = [
        ("event-streams", "/event-streams"), ("event-stream", "/event-streams/\(id)"),
        ("event-stream-settings", "/event-streams/\(id)/settings"),
        ("event-stream-pause", "/event-streams/\(id)/pause"),
        ("event-stream-deletion", "/event-streams/\(id)/deletion"),
        ("event-stream-removal", "/event-streams/\(id)/rejected-entries/1/removal"),
      ]
      for (name, address) in pages {
        let page = try await ada.get(address)
        Markup.check(page)
        try Snapshot.check(page.settled, named: "\(name).html")
      }
      let stream = "/event-streams/\(id)"
      #expect(try await ada.get(stream + "/resumption").location == stream)
      #expect(try await ada.submit(stream + "/pause", ["note": "Maintenance"]).location == stream)
      #expect(try await ada.get(stream + "/pause").location == stream)
      let resumption = try await ada.get(stream + "/resumption")
      Markup.check(resumption)
      try Snapshot.check(resumption.settled, named: "event-stream-resumption.html")
    }
  }

  @Test func `a webhook is added with a reason, and its secret is shown once`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let answers: Form = [
        "kind": "webhook", "target": "https://siem.example.com/events", "name": "SIEM",
        "start": "all",
      ]
      let missing = try await ada.submit("/event-streams/new", answers)
      #expect(missing.status == .unprocessableContent)
      #expect(missing.says("value=\"https://siem.example.com/events\""))
      Markup.check(missing)
      var complete = answers
      complete.add("note", "for the SIEM")
      let created = try await ada.submit("/event-streams/new", complete)
      #expect(created.status == .ok && created.says("whsec_"))
      #expect(created.says(">I’ve saved the secret</a>"))
      Markup.check(created)
      let list = try await ada.get("/event-streams")
      #expect(list.says("SIEM") && !list.says("whsec_"))
      let log = try await ada.get("/audit")
      #expect(log.says("Event stream added") && log.says("https://siem.example.com/events"))
      #expect(!log.says("whsec_"))
    }
  }

  @Test func `an empty form is answered with all its errors`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let new = try await ada.submit("/event-streams/new", [:])
      #expect(new.status == .unprocessableContent)
      let all = ["#kind", "#target", "#name", "#note"]
      #expect(new.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" } == all)
      Markup.check(new)
      let id = try await world.eventStream()
      let changed = try await ada.submit(
        "/event-streams/\(id)/settings", ["target": "", "name": ""])
      #expect(changed.status == .unprocessableContent)
      #expect(
        changed.values(of: "href").filter { $0.hasPrefix("#") && $0 != "#main" }
          == Array(all.dropFirst()))
    }
  }

  @Test func `an answer that isn't valid is kept and explained`() async throws {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let cases: [(Form, String)] = [
        (["target": "siem", "name": "SIEM", "note": "x"], "Select a type."),
        (
          ["kind": "file", "target": "../x", "name": "SIEM", "note": "x"],
          "Enter a destination of the selected type"
        ),
        (["kind": "file", "target": "siem", "name": "", "note": "x"], "Enter a name of 1 to 100"),
      ]
      for (form, text) in cases {
        let answer = try await ada.submit("/event-streams/new", form)
        #expect(answer.status == .unprocessableContent && answer.says(text))
        Markup.check(answer)
      }
      let added: Form = ["kind": "file", "target": "siem", "name": "SIEM", "note": "x"]
      let first = try await ada.submit("/event-streams/new", added)
      #expect(first.location?.hasPrefix("/event-streams/") == true)
      let second = try await ada.submit("/event-streams/new", added)
      #expect(second.says("Another event stream has this destination."))
    }
  }

  @Test func `a stream is tested, paused, resumed, and deleted, and an entry discarded`()
    async throws
  {
    try await World.withSampleData { world in
      let id = try await world.eventStream()
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let page = "/event-streams/\(id)"
      let csrf = try await ada.get(page).csrf
      _ = try await ada.post(page + "/test", ["csrf": csrf])
      #expect(try await ada.get(page).says("Sent shortly"))
      _ = try await ada.post(page + "/rejected-entries/1/retry", ["csrf": csrf])
      #expect(try await ada.get(page).says("Will be sent again shortly"))
      let bare = try await ada.submit(page + "/pause", [:])
      #expect(bare.status == .unprocessableContent)
      _ = try await ada.submit(page + "/pause", ["note": "maintenance"])
      let paused = try await ada.get(page)
      #expect(
        paused.says(">paused<") && paused.says("Will be sent again once the stream is resumed"))
      #expect(!paused.says("Will be sent again shortly"))
      _ = try await ada.submit(page + "/resumption", [:])
      #expect(try await ada.get(page).says(">failing<"))
      _ = try await ada.submit(page + "/rejected-entries/1/removal", ["note": "known"])
      #expect(try await ada.get(page).says("An entry that the destination rejects repeatedly"))
      let gone = try await ada.get(page + "/rejected-entries/1/removal")
      #expect(gone.status == .notFound)
      _ = try await ada.submit(page + "/deletion", ["note": "moved"])
      #expect(try await ada.get(page).status == .notFound)
      let log = try await ada.get("/audit")
      for action in ["paused", "resumed", "deleted"] {
        #expect(log.says("Event stream \(action)"), "\(action)")
      }
    }
  }

  @Test func `a confirmed change leads to a page that says what happened`() async throws {
    try await World.withSampleData { world in
      let page = "/event-streams/\(try await world.eventStream())"
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let changes = [
        ("/pause", page, "Event stream paused."), ("/resumption", page, "Event stream resumed."),
        ("/rejected-entries/1/removal", page, "Entry discarded."),
        ("/deletion", "/event-streams", "Event stream deleted."),
      ]
      for (address, next, text) in changes {
        let answer = try await ada.submit(page + address, ["note": "planned"])
        #expect(answer.location == next, "\(address)")
        #expect(try await ada.get(next).says(text), "\(address)")
      }
    }
  }

  @Test func `a stream gets a new name and destination, and a webhook a new secret`()
    async throws
  {
    try await World.withSampleData { world in
      let page = "/event-streams/\(try await world.eventStream())"
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let form = try await ada.get(page + "/settings")
      #expect(form.says("value=\"https://siem.example.com/events\""))
      let wrong = try await ada.submit(
        page + "/settings", ["name": "Archive", "target": "siem", "note": "x"])
      #expect(wrong.status == .unprocessableContent && wrong.says("value=\"Archive\""))
      Markup.check(wrong)
      let answers: Form = ["name": "Archive", "target": "https://new.example.com/", "note": "x"]
      #expect(try await ada.submit(page + "/settings", answers).location == page)
      let moved = try await ada.get(page)
      #expect(moved.says("Archive") && moved.says("https://<wbr>new.<wbr>example.<wbr>com/"))
      var renewal = answers
      renewal.add("secret", "renew")
      let renewed = try await ada.submit(page + "/settings", renewal)
      #expect(renewed.status == .ok && renewed.says("whsec_"))
      Markup.check(renewed)
      #expect(try await ada.get("/audit").says("Event stream changed"))
    }
  }

  @Test func `a stream that isn't encrypted says so`() async throws {
    try await World.withSampleData { world in
      let id = try await world.eventStream(kind: .syslog)
      let page = try await Browser.signedIn(world).get("/event-streams/\(id)")
      #expect(page.says("Not encrypted."))
    }
  }
}
