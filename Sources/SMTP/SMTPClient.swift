import Dispatch
import HTTPClient

/// The result of sending an email.
public enum SMTPOutcome: Sendable, Equatable {
  /// The server accepted the email and is responsible for it from now on.
  case accepted
  /// The server rejected the email permanently; the value is its reply.
  case refused(String)
  /// The server rejected the email temporarily.
  case postponed(String)
  /// The server couldn't be reached or rejected the connection, before it saw the email.
  case unreachable(String)
}

/// Sends emails to a server, one at a time.
///
/// The connection stays open between emails until ``rest()``.
public final class SMTPClient: Sendable {
  private let transport: MailTransport
  private let queue = DispatchQueue(label: "smtp")

  /// Creates a client, which connects when the first email is sent.
  public init(_ server: SMTPServer) {
    // The server has ten minutes to reply to a whole email, in which it may scan it (RFC 5321
    // section 4.5.3.2.6).
    transport = MailTransport(
      .init(
        url: server.url, user: server.user, password: server.password,
        authority: server.authority, needsTLS: server.needsTLS),
      connectSeconds: 15, sendSeconds: 60, replySeconds: 600)
  }

  /// Sends an email and waits for the server's reply.
  public func send(_ mail: Mail) async -> SMTPOutcome {
    let transport = transport
    return await withCheckedContinuation { continuation in
      queue.async {
        do throws(MailTransport.Failure) {
          try transport.send(
            mail.message, from: mail.sender.encoded, to: mail.recipient.encoded)
          continuation.resume(returning: .accepted)
        } catch {
          continuation.resume(returning: SMTPOutcome(error))
        }
      }
    }
  }

  /// Closes the connection, if there is one.
  public func rest() async {
    let transport = transport
    await withCheckedContinuation { continuation in
      queue.async {
        transport.close()
        continuation.resume()
      }
    }
  }

  /// Returns whether the server has had an email for some time without replying to it.
  ///
  /// - Parameter seconds: The time, in seconds.
  /// - Returns: False, too, when no email is being sent.
  public func hasWaited(seconds: Int) -> Bool { transport.hasWaited(seconds: seconds) }

  /// Limits an email being sent to this many more seconds.
  public func hurry(seconds: Int) { transport.hurry(seconds: seconds) }
}

extension SMTPOutcome {
  /// Returns the result for an email that wasn't accepted, according to the server's last reply.
  ///
  /// Only a reply to the email itself can reject it permanently (RFC 5321 section 4.2.1); a failed
  /// greeting, sign-in, or certificate check can't. A server that requires authentication first
  /// replies with codes such as 530 (RFC 4954 section 6).
  ///
  /// The sender's address is the server's own, so that the rejection of it concerns all emails,
  /// except when it's for the size, which is sent along with the address (RFC 1870 section 6.1).
  ///
  /// A server that doesn't reply to a whole email may be busy with that email only.
  init(_ failure: MailTransport.Failure) {
    guard !failure.isUnanswered else {
      self = .postponed(failure.description)
      return
    }
    let reply = failure.reply
    let isReply = failure.isAboutMail && reply >= 400
    let words = isReply ? Self.text(of: failure.line, reply) : failure.description
    let isSenderRefused = failure.isAboutSender && reply >= 500 && reply != 552
    guard isReply, !isSenderRefused, ![421, 454, 530, 534, 535, 538].contains(reply) else {
      self = .unreachable(words)
      return
    }
    self = reply >= 500 ? .refused(words) : .postponed(words)
  }

  private static func text(of line: [UInt8], _ reply: Int) -> String {
    let words = ResponseText.line(line)
    return words.hasPrefix(String(reply)) ? words : String(reply)
  }
}
