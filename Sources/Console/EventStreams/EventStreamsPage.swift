import HTTP
import Identity
import Localization
import Templating

/// `/event-streams`: the destinations that audit entries are copied to.
struct EventStreamsPage: Sendable {
  let streams: EventStreams
  let frames: Frames
  let view: Template<EventStreamsView>

  func show(_ signedIn: SignedIn) async throws(Refusal) -> Response {
    let states = try await refusing { try await streams.list() }
    let frame = frames.frame(Message("event-streams.event-streams"), for: signedIn)
    return .html(view.render(EventStreamsView(frame: FrameView(frame), states: states)))
  }
}

struct EventStreamsView: ViewModel {
  let frame: FrameView
  let states: [EventStreams.State]

  private var empty: EmptyView? {
    guard states.isEmpty else { return nil }
    return EmptyView(
      heading: Message("event-streams.empty"), sentence: Message("event-streams.empty-hint"),
      link: EmptyLink(
        text: Message("event-streams.add"), href: ConsolePaths.newEventStream(), isPrimary: true))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("new") { $0.states.isEmpty ? nil : ConsolePaths.newEventStream() },
    .flag("hasRows") { !$0.states.isEmpty },
    .list("rows") { view in
      view.states.map { EventStreamRow(state: $0, times: view.frame.times) }
    },
    .optional("empty") { $0.empty },
  ]
}

/// A stream in the list.
struct EventStreamRow: ViewModel {
  let state: EventStreams.State
  let times: Times

  static let keys: Keys<Self> = [
    .text("href") { ConsolePaths.eventStream($0.state.stream.id.text) },
    .text("name") { $0.state.stream.name },
    .text("kind") { $0.state.stream.kind.text },
    .markup("target") { HTML.address($0.state.stream.shownTarget) },
    .markup("state") { $0.state.chip },
    .text("lag") { Message.value(.number(Int($0.state.lag))) },
    .markup("delivered") {
      $0.state.stream.deliveredAt.map($0.times.past) ?? AccountChips.never
    },
    .text("deadLetters") { Message.value(.number($0.state.deadLetters)) },
  ]
}
