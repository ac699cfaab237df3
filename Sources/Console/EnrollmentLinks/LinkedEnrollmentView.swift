import Crypto
import HTTP
import Identity
import Templating

struct LinkedEnrollmentView: ViewModel {
  let frame: FrameView
  let state: LinkedEnrollmentState
  let form: LinkedEnrollmentForm?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("title") { $0.state.title },
    .text("sentence") { $0.state.sentence },
    .optional(\.form),
    .flag("isPlain") { $0.form == nil },
  ]
}

struct LinkedEnrollmentForm: ViewModel {
  let frame: FrameView
  let csrf: String
  let link: String
  let enrollment: LinkedEnrollment
  let name: String
  let endsSessions: Bool
  let drawing: Markup

  static let keys: Keys<Self> = [
    .text("action") { _ in ConsolePaths.linkedEnrollment() },
    .text(\.csrf),
    .text(\.link),
    .text("ticket") { $0.enrollment.ticket.revealedText },
    .text("application") { Formatted.short($0.enrollment.pool.projectName) },
    .text("email") { Formatted.short($0.enrollment.email, 200) },
    .markup(\.drawing),
    .text("uri") { $0.enrollment.uri.revealedText },
    .text("key") { Formatted.inFours($0.enrollment.key) },
    .text(\.name),
    .flag(\.endsSessions),
    .text("nameError") { $0.frame.error(at: "name") },
    .text("codeError") { $0.frame.error(at: "code") },
    .markup("until") { $0.frame.times.moment($0.enrollment.finishBy) },
  ]
}
