import Identity
import Testing

extension UseCase {
  static let eventStreams: [UseCase] = [
    UseCase("add an event stream", [.eventStreamAdd]) { i in
      let owner = try await i.agent("olga", role: .owner)
      return { _ = try await i.addStream(by: owner) }
    },
    UseCase("change an event stream", [.eventStreamChange]) { i in
      let stream = try await i.addStream()
      let owner = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.streams.change(
          stream.id, name: "SIEM 2", target: stream.target, renewsSecret: false,
          owner.request(nil, note: "renamed"))
      }
    },
    UseCase("delete an event stream", [.eventStreamDelete]) { i in
      let stream = try await i.addStream()
      let owner = try await i.agent("olga", role: .owner)
      return { _ = try await i.streams.delete(stream.id, owner.request(nil, note: "moved")) }
    },
    UseCase("pause an event stream", [.eventStreamPause]) { i in
      let stream = try await i.addStream()
      let owner = try await i.agent("olga", role: .owner)
      return { _ = try await i.streams.pause(stream.id, owner.request(nil, note: "moving")) }
    },
    UseCase("resume an event stream", [.eventStreamResume]) { i in
      let stream = try await i.addStream()
      let owner = try await i.agent("olga", role: .owner)
      _ = try await i.streams.pause(stream.id, owner.request(nil, note: "moving"))
      return { _ = try await i.streams.resume(stream.id, owner.request(nil)) }
    },
    UseCase("test an event stream", [.eventStreamTest]) { i in
      let stream = try await i.addStream()
      let owner = try await i.agent("olga", role: .owner)
      return { _ = try await i.streams.test(stream.id, owner.request(nil)) }
    },
    UseCase("retry a rejected entry", [.eventStreamRetry]) { i in
      let stream = try await i.addStream()
      try await i.sealAll()
      let entry = try await i.refuseNext(stream)
      let owner = try await i.agent("olga", role: .owner)
      return { _ = try await i.streams.retry(entry, of: stream.id, owner.request(nil)) }
    },
    UseCase("discard a rejected entry", [.eventStreamDiscard]) { i in
      let stream = try await i.addStream()
      try await i.sealAll()
      let entry = try await i.refuseNext(stream)
      let owner = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.streams.discard(
          entry, of: stream.id, owner.request(nil, note: "known"))
      }
    },
  ]
}
