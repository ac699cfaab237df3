import Crypto
import HTTP
import Identity
import Localization
import Templating
import Text

/// `S/new-user`: creates a user.
struct NewUserPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<NewUserView>

  /// The form's input; the password is never shown again.
  struct Answers: Sendable {
    var email = ""
    var name = ""
    var isVerified = false
    var password = OptionalSecret("password")
  }

  func show(_ context: PoolContext) async throws -> Response {
    try await page(context, Answers(), errors: [])
  }

  func create(_ context: PoolContext) async throws -> Response {
    let form = context.signedIn.form
    let answers = Answers(
      email: form.trimmed("email"), name: form.trimmed("name"),
      isVerified: form["verified"] == "yes",
      password: OptionalSecret("password", form.text("password"), in: form))
    guard !answers.email.isEmpty || !answers.name.isEmpty else {
      let fault = FieldError(field: "email", text: Message("Enter an email address or a name."))
      return try await page(context, answers, errors: [fault])
    }
    guard !answers.password.isMissing else {
      // A password that was entered now, but isn't read, is longer than any that's accepted.
      let isTooLong = form["password"]?.isEmpty == false
      return try await page(context, answers, errors: isTooLong ? [Self.passwordTooLong] : [])
    }
    var new = NewAccount()
    new.email = answers.email.isEmpty ? nil : answers.email
    new.displayName = answers.name.isEmpty ? nil : answers.name
    new.emailVerified = answers.isVerified && new.email != nil
    if !answers.password.value.isEmpty {
      guard new.email != nil else {
        let fault = FieldError(
          field: "email", text: Message("Enter an email address. A password requires one."))
        return try await page(context, answers, errors: [fault])
      }
      new.password = Secret(answers.password.value)
    }
    let account: Account
    do {
      account = try await identity.accounts.create(
        context.pool, new, by: .console(context.signedIn.plainRequest)
      ).value
    } catch let error as AccountError {
      return try await page(context, answers, errors: [try Self.fault(error)])
    } catch let denial as ActionDenial {
      throw Refusal.of(denial, ConsoleAction.createUser.requirements.permission)
    }
    return frames.leave(
      account.hasPassword
        ? Message("User created. Share the password with them through a secure channel.")
        : Message("User created. No password is set yet."),
      for: context.signedIn, to: ConsolePaths.user(context.pool, account.id.text))
  }

  private static var passwordTooLong: FieldError {
    FieldError(field: "password", text: Message("Use a password of at most 4,096 characters."))
  }

  private func page(
    _ context: PoolContext, _ answers: Answers, errors: [FieldError]
  ) async throws -> Response {
    var (answers, errors) = (answers, errors)
    if errors.contains(where: { $0.field == answers.password.name }) {
      // Its error says what to enter instead.
      answers.password = OptionalSecret("password")
    } else if answers.password.isLost {
      errors.append(
        FieldError(
          field: answers.password.name,
          text: Message("Enter the password again. It’s never sent back to the browser.")))
    }
    let frame = try await frames.frame(
      Message("New user"), in: context,
      crumbs: [Link(text: Message("Users"), href: ConsolePaths.users(context.pool))], errors: errors
    )
    let model = NewUserView(frame: FrameView(frame), context: context, answers: answers)
    return .html(view.render(model), errors: errors)
  }

  private static func fault(_ error: AccountError) throws -> FieldError {
    switch error {
    case .emailExists:
      return FieldError(
        field: "email",
        text: Message("Another user already has this email address. Enter a different one."))
    case .invalidEmail, .missingEmail:
      return FieldError(
        field: "email",
        text: Message("Enter an email address, such as jo@example.com."))
    case .weakPassword, .missingPassword:
      return FieldError(
        field: "password",
        text: Message("Enter a password of at least six characters, or leave it empty."))
    case .passwordTooLong:
      return passwordTooLong
    case .passwordRequirements(let missing):
      return FieldError(field: "password", text: PasswordPolicy.sentence(missing))
    case .nameTooLong:
      return FieldError(
        field: "name",
        text: Message(
          one: "Shorten the name to {count} character.",
          other: "Shorten the name to {count} characters.", ["count": .number(Account.longestName)])
      )
    default: throw error
    }
  }
}

struct NewUserView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let answers: NewUserPage.Answers

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.context.pool.name },
    .text("action") { ConsolePaths.newUser($0.context.pool) },
    .text("cancel") { ConsolePaths.users($0.context.pool) },
    .text("email") { $0.answers.email },
    .text("name") { $0.answers.name },
    .flag("isVerified") { $0.answers.isVerified },
    .text("emailError") { $0.frame.error(at: "email") },
    .text("nameError") { $0.frame.error(at: "name") },
    .text("passwordError") { $0.frame.error(at: "password") },
    .optional("lostSecret") { view in
      LostSecret(view.answers.password, label: Message("Leave the password empty"))
    },
    .text("longestName") { _ in Message.value(.number(Account.longestName)) },
  ]
}
