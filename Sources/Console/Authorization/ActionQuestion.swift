import Identity
import Templating

/// What a page asks before an action whose own form is a single button.
struct ActionQuestion {
  let performs: ConsoleAction
  let heading: Markup
  let consequences: [String]
  /// The verb with its object.
  let button: String
  /// What the way back is called.
  let keep: String
  /// Where the form goes.
  let action: String
  /// Where one goes without acting.
  let back: String
  var isDestructive = true
  /// What the form carries besides.
  var hidden: [HiddenField] = []
  /// What is beside the form.
  var factsHeading = ""
  var facts: [Fact] = []
}

struct ActionQuestionView: ViewModel {
  let frame: FrameView
  let question: ActionQuestion
  let csrf: String
  let fields: ActionFields

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .markup("heading") { $0.question.heading },
    .texts("consequences") { $0.question.consequences },
    .flag("isDestructive") { $0.question.isDestructive },
    .text("button") { $0.question.button },
    .text("look") { $0.question.isDestructive ? "destroy" : "primary" },
    .text("keep") { $0.question.keep },
    .text("action") { $0.question.action },
    .text("back") { $0.question.back },
    .text("csrf") { $0.csrf },
    .list("hidden") { $0.question.hidden },
    .object("authorization") { $0.fields },
    .flag("hasFacts") { !$0.question.facts.isEmpty },
    .text("factsHeading") { $0.question.factsHeading },
    .list("facts") { $0.question.facts },
  ]
}
