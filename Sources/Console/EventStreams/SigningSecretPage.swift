import Crypto
import HTTP
import Identity
import Localization
import Templating

/// The page that shows the new signing secret of a webhook once.
struct SigningSecretPage: Sendable {
  let actions: ActionForms
  let view: Template<SigningSecretView>

  func show<Value>(
    _ secret: Secret, of stream: EventStream, title: Message, heading: Message,
    _ signedIn: SignedIn, after outcome: ActionOutcome<Value>
  ) -> Response {
    var frame = actions.frames.frame(title, for: signedIn)
    frame.crumbs = [EventStreamPage.crumb]
    let html = view.render(
      SigningSecretView(
        frame: FrameView(frame), stream: stream, heading: heading, secret: secret.revealedText))
    return actions.page(.html(html), after: outcome)
  }
}

struct SigningSecretView: ViewModel {
  let frame: FrameView
  let stream: EventStream
  let heading: Message
  let secret: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { Markup(html: $0.heading) },
    .text(\.secret),
    .text("next") { ConsolePaths.eventStream($0.stream.id.text) },
  ]
}
