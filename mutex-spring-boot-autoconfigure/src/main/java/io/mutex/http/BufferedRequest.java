package io.mutex.http;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;

/**
 * A request whose body has been read, and is given once more to who processes it.
 */
final class BufferedRequest extends HttpServletRequestWrapper {

	private final Body body;

	BufferedRequest(HttpServletRequest request, byte[] body) {
		super(request);
		this.body = new Body(body);
	}

	@Override
	public ServletInputStream getInputStream() {
		return this.body;
	}

	@Override
	public BufferedReader getReader() {
		String encoding = getCharacterEncoding();
		Charset charset = (encoding != null) ? Charset.forName(encoding) : StandardCharsets.ISO_8859_1;
		return new BufferedReader(new InputStreamReader(this.body, charset));
	}

	/**
	 * The body as a stream.
	 */
	private static final class Body extends ServletInputStream {

		private final ByteArrayInputStream bytes;

		Body(byte[] bytes) {
			this.bytes = new ByteArrayInputStream(bytes);
		}

		@Override
		public int read() {
			return this.bytes.read();
		}

		@Override
		public int read(byte[] target, int offset, int length) {
			return this.bytes.read(target, offset, length);
		}

		@Override
		public boolean isFinished() {
			return this.bytes.available() == 0;
		}

		@Override
		public boolean isReady() {
			return true;
		}

		@Override
		public void setReadListener(ReadListener listener) {
			try {
				listener.onDataAvailable();
				listener.onAllDataRead();
			}
			catch (IOException ex) {
				listener.onError(ex);
			}
		}

	}

}
