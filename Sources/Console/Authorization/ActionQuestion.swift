import Identity
import Localization
import Templating

struct ActionQuestion {
  let performs: ConsoleAction
  let heading: Markup
  let consequences: [Message]
  /// The label of the confirm button: a verb and its object.
  let button: Message
  /// The label of the cancel link.
  let keep: Message
  let action: String
  let back: String
  var isDestructive = true
  var hidden: [HiddenField] = []
  var factsHeading = Message.verbatim("")
  var facts: [Fact] = []
}

struct ActionQuestionView: ViewModel {
  let frame: FrameView
  let question: ActionQuestion
  let csrf: String
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { $0.question.heading },
    .texts("consequences") { $0.question.consequences },
    .flag("isDestructive") { $0.question.isDestructive },
    .text("button") { $0.question.button },
    .text("look") { $0.question.isDestructive ? "destroy" : "primary" },
    .text("keep") { $0.question.keep },
    .text("action") { $0.question.action },
    .text("back") { $0.question.back },
    .text(\.csrf),
    .list("hidden") { $0.question.hidden },
    .object("authorization") { $0.fields },
    .flag("hasFacts") { !$0.question.facts.isEmpty },
    .text("factsHeading") { $0.question.factsHeading },
    .list("facts") { $0.question.facts },
  ]
}
