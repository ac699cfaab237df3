// The classes that the guides' Java samples use, as declared by Firebase, Google Play services, and
// Android, without what they do.

import java.text.DateFormat;
import java.util.Date;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

interface OnSuccessListener<T> { void onSuccess(T result); }
interface OnFailureListener { void onFailure(Exception error); }
interface SuccessContinuation<T, R> { Task<R> then(T result) throws Exception; }

abstract class Task<T> {
  abstract Task<T> addOnSuccessListener(OnSuccessListener<? super T> listener);
  abstract Task<T> addOnFailureListener(OnFailureListener listener);
  abstract <R> Task<R> onSuccessTask(SuccessContinuation<T, R> next);
}

abstract class Tasks {
  static <T> Task<T> forResult(T result) { return null; }
}

class FirebaseException extends Exception {}
class FirebaseAuthException extends FirebaseException { String getErrorCode() { return null; } }
class FirebaseAuthInvalidUserException extends FirebaseAuthException {}
class FirebaseAuthRecentLoginRequiredException extends FirebaseAuthException {}
class FirebaseAuthMultiFactorException extends FirebaseAuthException {
  MultiFactorResolver getResolver() { return null; }
}

class Context {}
class Activity extends Context {}
abstract class FirebaseApp {
  static FirebaseApp initializeApp(Context context, FirebaseOptions options) { return null; }
}
class FirebaseOptions {
  static class Builder {
    Builder setApiKey(String key) { return this; }
    Builder setProjectId(String id) { return this; }
    Builder setApplicationId(String id) { return this; }
    FirebaseOptions build() { return null; }
  }
}

abstract class FirebaseAuthSettings {
  abstract void setAppVerificationDisabledForTesting(boolean isDisabled);
}
abstract class FirebaseAuth {
  static FirebaseAuth getInstance(FirebaseApp app) { return null; }
  abstract void useEmulator(String host, int port);
  abstract void setTenantId(String id);
  abstract FirebaseAuthSettings getFirebaseAuthSettings();
  abstract Task<AuthResult> signInWithEmailAndPassword(String email, String password);
  abstract void signOut();
}
interface AuthResult {}
abstract class AuthCredential {}
abstract class EmailAuthProvider {
  static AuthCredential getCredential(String email, String password) { return null; }
}
abstract class GetTokenResult { abstract String getSignInSecondFactor(); }
abstract class FirebaseUser {
  abstract String getEmail();
  abstract boolean isEmailVerified();
  abstract Task<Void> reload();
  abstract Task<GetTokenResult> getIdToken(boolean isForced);
  abstract Task<Void> reauthenticate(AuthCredential credential);
  abstract MultiFactor getMultiFactor();
}

abstract class MultiFactor {
  abstract Task<MultiFactorSession> getSession();
  abstract Task<Void> enroll(MultiFactorAssertion assertion, String name);
  abstract Task<Void> unenroll(MultiFactorInfo factor);
  abstract List<MultiFactorInfo> getEnrolledFactors();
}
abstract class MultiFactorSession {}
abstract class MultiFactorAssertion {}
abstract class MultiFactorInfo {
  abstract String getUid();
  abstract String getFactorId();
  abstract String getDisplayName();
  abstract long getEnrollmentTimestamp();
}
abstract class PhoneMultiFactorInfo extends MultiFactorInfo {}
abstract class MultiFactorResolver {
  abstract List<MultiFactorInfo> getHints();
  abstract MultiFactorSession getSession();
  abstract Task<AuthResult> resolveSignIn(MultiFactorAssertion assertion);
}
interface TotpSecret {
  String getSharedSecretKey();
  String generateQrCodeUrl(String account, String issuer);
  void openInOtpApp(String url, String fallback, Activity activity);
}
abstract class TotpMultiFactorAssertion extends MultiFactorAssertion {}
abstract class TotpMultiFactorGenerator {
  static final String FACTOR_ID = "totp";
  static Task<TotpSecret> generateSecret(MultiFactorSession session) { return null; }
  static TotpMultiFactorAssertion getAssertionForEnrollment(TotpSecret secret, String code) {
    return null;
  }
  static TotpMultiFactorAssertion getAssertionForSignIn(String id, String code) { return null; }
}
abstract class PhoneMultiFactorAssertion extends MultiFactorAssertion {}
abstract class PhoneMultiFactorGenerator {
  static final String FACTOR_ID = "phone";
  static PhoneMultiFactorAssertion getAssertion(PhoneAuthCredential credential) { return null; }
}
abstract class PhoneAuthCredential extends AuthCredential {}
abstract class PhoneAuthOptions {
  static Builder newBuilder(FirebaseAuth auth) { return null; }
  static abstract class Builder {
    abstract Builder setActivity(Activity activity);
    abstract Builder setMultiFactorHint(PhoneMultiFactorInfo hint);
    abstract Builder setMultiFactorSession(MultiFactorSession session);
    abstract Builder requireSmsValidation(boolean isRequired);
    abstract Builder setTimeout(Long timeout, TimeUnit unit);
    abstract Builder setCallbacks(PhoneAuthProvider.OnVerificationStateChangedCallbacks callbacks);
    abstract PhoneAuthOptions build();
  }
}
abstract class PhoneAuthProvider {
  static PhoneAuthCredential getCredential(String id, String code) { return null; }
  static void verifyPhoneNumber(PhoneAuthOptions options) {}
  static class ForceResendingToken {}
  static abstract class OnVerificationStateChangedCallbacks {
    public abstract void onVerificationCompleted(PhoneAuthCredential credential);
    public abstract void onVerificationFailed(FirebaseException error);
    public void onCodeSent(String id, ForceResendingToken token) {}
  }
}

class View {
  static final int GONE = 8, VISIBLE = 0;
  interface OnClickListener { void onClick(View view); }
  void setVisibility(int visibility) {}
  void setOnClickListener(OnClickListener listener) {}
}
class TextView extends View {
  void setText(String text) {}
  void setText(int resource) {}
}
class Bitmap {}
class ImageView extends View { void setImageBitmap(Bitmap bitmap) {} }

// What belongs to the application.

class R {
  static class string { static int second_factor_off, second_factor_on; }
}
class Binding {
  TextView state;
  View remove, setUp;
}
class Account {
  boolean offerIsDue() { return true; }
  void refuse() {}
}
class OfferSheet {
  OfferSheet(Runnable onSetUp, Runnable onLater) {}
  void show() {}
}
class HomeActivity extends Activity {}
class EnrollActivity extends Activity {}
class VerifyActivity extends Activity {}

abstract class Application {
  FirebaseAuth auth;
  FirebaseUser user;
  MultiFactorInfo factor;
  TotpSecret secret;
  Context context;
  Activity activity;
  Account account;
  Binding binding;
  ImageView image;
  TextView text;
  View button;

  abstract void enter(AuthResult result);
  abstract void explain(Exception error);
  abstract void choose(List<MultiFactorInfo> hints, Consumer<MultiFactorInfo> chosen);
  abstract void askForCode(MultiFactorInfo hint, boolean isRetry, Consumer<String> entered);
  abstract void askForPassword(Consumer<String> entered);
  abstract void showUnsupported(MultiFactorInfo hint);
  abstract void showSecret(TotpSecret secret);
  abstract void showEnrolled();
  abstract void showSignIn();
  abstract void enroll(FirebaseUser user);
  abstract void enrollThen(FirebaseUser user, Runnable goOn);
  abstract void open(Class<? extends Activity> activity);
  abstract Bitmap drawQrCode(String url);
  abstract String getString(int resource, Object... values);
}
